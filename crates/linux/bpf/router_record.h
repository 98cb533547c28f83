/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Records of the packets that the router's program saw, and of the values that it wrote, for replay through
 * the simulator's router.
 */
#pragma once

#include "router_state.h"

struct record {
	/* The kernel's monotonic clock, ns. */
	__u64 time;
	/* Number of packets that had arrived, including this one. */
	__u64 count;
	/* XCP: number of packets that had received feedback, including this one; zero if this packet received none. */
	__u64 turn;
	/* Number of packets into which the device will split it, and their bytes. */
	__u32 segments;
	__u32 size;
	/* The generation of the instructions at that time. */
	__u32 generation;
	__u32 payload;
	/* XCP's header; zero if there is none. */
	__u32 rtt_us;
	__u32 throughput;
	/* VCP's code or XCP's feedback, on arrival and on departure. */
	__s32 brought;
	__s32 left;
	/* Whether feedback or a code can be written to it. */
	__u32 data;
	__u32 unused;
};

/* Set before loading. */
const volatile bool recording;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

/* Records lost because the ring buffer was full. */
__u64 records_lost;

static __always_inline void record(const struct record *record)
{
	if (recording && bpf_ringbuf_output(&records, (void *)record, sizeof(*record), 0))
		add(&records_lost, 1);
}
