/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* State of each connection. The memory belongs to the socket and is freed with it. */
#pragma once

#include "kernel.h"
#include "control/controller.h"

/* State of the data sender, for connections with one of airpath's controllers. */
struct sender {
	struct state state;
	/* Feedback received since the controller last processed an acknowledgment. */
	s32 change;
	u8 feedback;
	u8 load;
	u8 controller;
	bool started;
	/* The path has returned feedback once: no more announcements. */
	bool answered;
	/* airpath enabled the kernel's pacing. */
	bool paced;
	u8 unused[2];
	/* Number of the connection, counted from one. */
	u64 number;
	/* Consecutive expiries of the timer. */
	u32 timeouts;
	struct round_trip rtt;
	u32 snd_una;
	/*
	 * Proportional rate reduction (RFC 6937), packets: the flight at its start (zero: none), and the packets
	 * delivered since.
	 */
	u32 recover_flight;
	u32 delivered;
};

/* State of the receiver of data with XCP's header or VCP's code. */
struct receiver {
	/* XCP: the sum since the last echo. */
	s32 change;
	bool speaks_xcp;
	bool speaks_vcp;
	/* An echo is pending. */
	bool pending;
	/* VCP: the latest code, 1 to 3; zero before the first. */
	u8 code;
	/* Number of data segments so far. */
	u8 counter;
	/* The packet being built carries an airpath option. */
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

/* Counters since loading, over all programs. */
struct {
	/* Connections of the cgroup that received the controller. */
	u64 selected;
	/* Connections for which the kernel refused it. */
	u64 refused;
	/* Connections whose controller has started. */
	u64 started;
	/* Options written, and options that did not fit; VCP's codes are then sent in header bits. */
	u64 options_written;
	u64 options_without_room;
	/* Feedback received, by option and by header bits; and malformed options. */
	u64 echoes;
	u64 echoes_by_bits;
	u64 malformed;
} counters;
