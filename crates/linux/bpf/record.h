/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records of the inputs and the results of controllers, for replay through the Rust controllers. */
#pragma once

#include "connection.h"

enum record_kind {
	RECORD_START = 0,
	RECORD_ACK = 1,
	RECORD_CONGESTION = 2,
	RECORD_SPURIOUS = 3,
};

struct record {
	/* Number of the connection, counted from one. */
	u64 connection;
	/* The window after the event, bytes. */
	u64 window;
	u32 controller;
	u32 kind;
	union {
		struct ack_event ack;
		struct congestion_event congestion;
		u32 mss;
	};
};

/* Set before loading. */
const volatile bool recording;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

/* Records lost because the ring buffer was full. */
u64 records_lost;

static __always_inline struct record *record_begin(const struct sender *sender, u32 kind)
{
	struct record *record;

	if (!recording)
		return NULL;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&records_lost, 1);
		return NULL;
	}
	record->connection = sender->number;
	record->controller = sender->controller;
	record->kind = kind;
	return record;
}

static __always_inline void record_end(struct record *record, u64 window)
{
	if (!record)
		return;
	record->window = window;
	bpf_ringbuf_submit(record, 0);
}
