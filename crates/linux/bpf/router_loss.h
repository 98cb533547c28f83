/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Losses of a Gilbert-Elliott chain, with probabilities that the daemon computes for whole packets. */
#pragma once

#include "router_state.h"

/* Sizes are grouped into classes of 16 bytes; the last class contains all larger sizes. */
#define SIZE_CLASS 16
#define SIZE_CLASSES 97

/*
 * Probabilities times 2^32, by the previous state of the chain (0 good, 1 bad): that the packet is lost, and
 * that the chain is bad after it, given that it was lost or that it arrived. As AirErrors of crates/channel.
 */
struct outcome {
	__u64 lost[2];
	__u64 bad_if_lost[2];
	__u64 bad_if_arrived[2];
};

struct outcome outcomes[SIZE_CLASSES];

struct chain {
	struct bpf_spin_lock lock;
	__u32 bad;
	__u64 random; /* state of the generator, never zero */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct chain);
} chain SEC(".maps");

/* Returns 32 random bits: the upper half of xorshift64* (S. Vigna, 2016). */
static __always_inline __u64 draw(struct chain *state)
{
	__u64 x = state->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	state->random = x;
	return (x * 0x2545f4914f6cdd1dULL) >> 32;
}

/* Whether a packet of `size` bytes is lost. Uses two random samples, as AirErrors does. */
static __always_inline bool loses(__u32 size)
{
	__u32 key = 0, class = (size + SIZE_CLASS - 1) / SIZE_CLASS, bad;
	struct chain *state = bpf_map_lookup_elem(&chain, &key);
	struct outcome *outcome;
	bool lost;

	if (!state)
		return false;
	if (class >= SIZE_CLASSES)
		class = SIZE_CLASSES - 1;
	outcome = &outcomes[class];
	bpf_spin_lock(&state->lock);
	bad = state->bad & 1;
	lost = draw(state) < outcome->lost[bad];
	state->bad = draw(state) < (lost ? outcome->bad_if_lost[bad] : outcome->bad_if_arrived[bad]);
	bpf_spin_unlock(&state->lock);
	return lost;
}
