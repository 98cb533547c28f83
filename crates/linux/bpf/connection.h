/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What is kept of each connection. The memory belongs to the socket and goes with it. */
#pragma once

#include "kernel.h"
#include "control/controller.h"

/* At the end that sends data, for connections with one of our controllers. */
struct sender {
	struct state state;
	/* What came back with acknowledgments since the controller was told last. */
	s32 change;
	u8 feedback;
	u8 load;
	u8 controller;
	bool started;
	/* The path answered once: no more announcements. */
	bool answered;
	/* We made the kernel pace. */
	bool paced;
	u8 unused[2];
	/* Which connection, counted from one. */
	u64 number;
	/* Expiries of the timer in a row. */
	u32 timeouts;
	struct round_trip rtt;
	u32 snd_una;
	/* Proportional rate reduction (RFC 6937), packets: the flight when it began (zero: none), delivered since. */
	u32 recover_flight;
	u32 delivered;
};

/* At the end that receives data with XCP's header or VCP's code. */
struct receiver {
	/* XCP: the sum since the last echo. */
	s32 change;
	bool speaks_xcp;
	bool speaks_vcp;
	/* There is something to echo. */
	bool pending;
	/* VCP: the newest code, 1 to 3; zero before the first. */
	u8 code;
	/* Data segments so far. */
	u8 counter;
	/* The packet being made carries an option of ours. */
	bool written;
	/* Two-way XCP: the last data segment carried a header, the next carries the echo. */
	bool alternate;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sender);
} senders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct receiver);
} receivers SEC(".maps");

/* Counted since loading, by all programs. */
struct {
	/* Connections of the cgroup to which the controller was given. */
	u64 selected;
	/* Those to which the kernel did not give it. */
	u64 refused;
	/* Connections whose controller began to work. */
	u64 started;
	/* Options written, and those for which there was no room; VCP's codes then go into header bits. */
	u64 options_written;
	u64 options_without_room;
	/* Feedback that came back, by option and by header bits; and what could not be read. */
	u64 echoes;
	u64 echoes_by_bits;
	u64 malformed;
} counters;
