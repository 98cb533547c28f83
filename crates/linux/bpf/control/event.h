/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The inputs of a controller: the events of the Rust crates, in microseconds and bytes. */
#pragma once

#include "fixed.h"

/* Upper bound of the window, bytes. */
#define WINDOW_LARGEST (1ULL << 31)

enum signal {
	SIGNAL_LOSS = 0,
	SIGNAL_MARK = 1,
	SIGNAL_TIMEOUT = 2,
};

enum feedback {
	FEEDBACK_NONE = 0,
	/* VCP: the load code of the path. */
	FEEDBACK_LOAD = 1,
	/* XCP: the change of throughput that routers grant. */
	FEEDBACK_CHANGE = 2,
};

enum load {
	LOAD_LOW = 0,
	LOAD_HIGH = 1,
	LOAD_OVERLOAD = 2,
};

struct round_trip {
	/* All in microseconds, zero before the first sample. */
	u32 latest;
	u32 smoothed;
	u32 minimum;
	/* The sample of this acknowledgment; zero if there is none. */
	u32 sample;
};

struct ack_event {
	u64 now;
	/* Newly acknowledged bytes, cumulatively or selectively. */
	u32 acked;
	/* Bytes by which the cumulative acknowledgment advanced. */
	u32 advance;
	u32 mss;
	/* The receiver's TCP timestamp, in ticks of its clock. */
	u32 receiver_stamp;
	struct round_trip rtt;
	/* XCP's feedback, byte/s. */
	s32 change;
	u8 feedback;
	/* VCP's load code. */
	u8 load;
	bool has_stamp;
	bool duplicate;
	bool window_limited;
	bool in_recovery;
	/* The acknowledgment echoes an ECN mark. */
	bool marked;
	u8 unused[1];
};

struct congestion_event {
	u64 now;
	/* Bytes sent and not cumulatively acknowledged. */
	u32 flight_size;
	u32 mss;
	struct round_trip rtt;
	/* Consecutive expiries of the timer since the last new acknowledgment. */
	u32 consecutive;
	u8 signal;
	u8 unused[3];
};
