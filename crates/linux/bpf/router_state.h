/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The shared state of the router's programs and the daemon: global variables, which the daemon maps into its memory. */
#pragma once

#include "kernel.h"

/*
 * Written by the programs. All values only grow (the daemon takes differences), except the two queue lengths.
 * Bytes are those of the queue discipline: link-layer header included, each segment of an offloaded packet
 * with its own headers.
 */
struct counters {
	__u64 packets; /* arrivals at the queue: incremented before all others */
	__u64 bytes;
	__u64 data_packets; /* packets that feedback can be written to */
	__u64 data_bytes;
	__u64 sum_x;     /* X over these, ns */
	__u64 sum_x_rtt; /* X RTT over these, ns us / 1024 */
	__u64 written;   /* packets that left with another code or feedback than they came with */
	__u64 malformed; /* TCP headers whose options cannot be read */
	__u64 unguided;  /* packets that passed untouched because the daemon was silent */
	__u64 lost;      /* packets that the loss program dropped */
	__u64 unlost;    /* packets that it let pass */
	__u64 shortest;  /* shortest queue that an arrival has met since the daemon reset it, bytes */
	__u64 backlog;   /* queue that the last arrival met, bytes */
	__u64 settled;   /* packets whose other counters are complete: equal to `packets` if none is in progress */
};

/* XCP's feedback of one control interval. Rates are in units of 1/65536 byte/s. */
struct shares {
	__u64 residue_positive;
	__u64 residue_negative;
	__u32 per_x; /* mantissas below 2^31: share = amount * mantissa >> shift */
	__u32 per_x_shift;
	__u32 per_byte;
	__u32 per_byte_shift;
};

/* Instructions, written by the daemon. */
struct guidance {
	__u64 valid_until; /* kernel's monotonic clock, ns; set by `beat` only */
	__u32 code;        /* VCP's code, 0 to 3 */
	__u32 generation;  /* counts control intervals; for XCP, shares[generation & 1] is the current one */
	struct shares shares[2];
};

struct counters counters;
struct guidance guidance;

/* Bytes before the IP header on this device: 14 on Ethernet, 0 on TUN. */
const volatile __u32 link_header = 14;

/*
 * A beat must be more recent than this, regardless of valid_until: a daemon that has ended cannot have
 * promised more.
 */
#define LONGEST_HOLD_NS 10000000000ULL

/* Whether the daemon is alive. Without it a router changes nothing. */
static __always_inline bool guided(void)
{
	__u64 left = guidance.valid_until - bpf_ktime_get_ns();

	return left != 0 && left <= LONGEST_HOLD_NS;
}

static __always_inline void add(__u64 *counter, __u64 amount)
{
	__sync_fetch_and_add(counter, amount);
}
