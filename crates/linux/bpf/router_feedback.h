/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* XCP's feedback for one packet in integers, as crates/queue/src/xcp/feedback.rs computes it in floating point. */
#pragma once

#include "router_record.h"

/* The remaining residues of the current interval. */
struct residues {
	struct bpf_spin_lock lock;
	__u32 generation;
	__u64 turn;
	struct shares left;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct residues);
} residues SEC(".maps");

static __always_inline __u64 least(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/*
 * Returns the feedback of a packet with inter-packet time `x_ns` (below 2^32) and `size` bytes, at most
 * `requested`; all rates in 1/65536 byte/s. The first packet that sees a new generation takes over the shares
 * of its control interval.
 */
static __always_inline __s64 give(__u64 x_ns, __u64 size, __s64 requested, struct record *passed)
{
	__u32 key = 0, generation;
	struct residues *state = bpf_map_lookup_elem(&residues, &key);
	__u64 negative, residue;
	__s64 feedback, positive;

	if (!state)
		return 0;
	bpf_spin_lock(&state->lock);
	generation = guidance.generation;
	if (state->generation != generation) {
		state->generation = generation;
		state->left = guidance.shares[generation & 1];
	}
	passed->generation = generation;
	passed->turn = ++state->turn;
	residue = state->left.residue_positive;
	positive = least((x_ns * state->left.per_x) >> (state->left.per_x_shift & 63), residue);
	negative = least((size * state->left.per_byte) >> (state->left.per_byte_shift & 63), state->left.residue_negative);
	feedback = positive - negative;
	if (requested < feedback) {
		/* Another hop granted less: the difference counts as distributed here. */
		negative = least(negative + (feedback - requested), state->left.residue_negative);
		positive = requested + negative;
		feedback = requested;
	}
	/*
	 * `positive` is negative if the other hop took more than there was to take: that amount remains for
	 * other packets.
	 */
	state->left.residue_positive = positive > 0 ? residue - least(positive, residue) : residue - positive;
	state->left.residue_negative -= negative;
	if (state->left.residue_positive == 0)
		state->left.per_x = 0;
	if (state->left.residue_negative == 0)
		state->left.per_byte = 0;
	bpf_spin_unlock(&state->lock);
	return feedback;
}
