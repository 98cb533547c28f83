/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the router's program saw of each packet and wrote on it, for replay through the simulator's router. */
#pragma once

#include "router_state.h"

struct record {
	/* The kernel's monotonic clock, ns. */
	__u64 time;
	/* Packets that had arrived, this one included. */
	__u64 count;
	/* XCP: the packets that had been given feedback, this one included; zero: it was given none. */
	__u64 turn;
	/* Packets that the device will make of it, and their bytes. */
	__u32 segments;
	__u32 size;
	/* The generation of the guidance that it met. */
	__u32 generation;
	__u32 payload;
	/* XCP's header; zero where there is none. */
	__u32 rtt_us;
	__u32 throughput;
	/* VCP's code or XCP's feedback, as it came and as it left. */
	__s32 brought;
	__s32 left;
	/* Feedback or a code can be written on it. */
	__u32 data;
	__u32 unused;
};

/* Set before loading. */
const volatile bool recording;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

/* Records that found no room. */
__u64 records_lost;

static __always_inline void record(const struct record *record)
{
	if (recording && bpf_ringbuf_output(&records, (void *)record, sizeof(*record), 0))
		add(&records_lost, 1);
}
