/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Slow start below a threshold and a rule above it (RFC 5681, section 3.1), as in
 * crates/control/src/windowed.rs. The rule is a constant at each call, so that only its part is compiled in.
 */
#pragma once

#include "cubic.h"
#include "westwood.h"

enum rule {
	RULE_RENO = 0,
	RULE_WESTWOOD = 1,
	RULE_SARBE = 2,
	RULE_CUBIC_EBE = 3,
};

#define NO_THRESHOLD (~0ULL)

struct windowed {
	/* Bytes. */
	u64 window;
	u64 ssthresh;
	/* Bytes acknowledged since the last growth in congestion avoidance (RFC 3465). */
	u64 bytes_acked;
	/* Bytes acknowledged selectively by duplicates, and not counted yet. */
	u64 waiting;
	/* A loss is being repaired. */
	bool repairing;
	/* A timeout occurred: slow start counts one segment per acknowledgment (RFC 3465, section 2.3). */
	bool cautious;
	u8 unused[6];
	union {
		struct westwood westwood;
		struct sarbe sarbe;
		struct {
			struct cubic cubic;
			struct ebe ebe;
		};
	};
};

static __always_inline void windowed_start(struct windowed *state, const int rule, u32 window)
{
	state->window = minimum(window, WINDOW_LARGEST);
	state->ssthresh = NO_THRESHOLD;
	state->bytes_acked = state->waiting = 0;
	state->repairing = state->cautious = false;
	if (rule == RULE_WESTWOOD)
		westwood_start(&state->westwood);
	if (rule == RULE_SARBE)
		state->sarbe = (struct sarbe){ 0 };
	if (rule == RULE_CUBIC_EBE) {
		state->cubic = (struct cubic){ 0 };
		ebe_start(&state->ebe, EBE_RECOMMENDED);
	}
}

static __always_inline fixed segments_of(u64 bytes, u32 mss)
{
	return mss ? (minimum(bytes, WINDOW_LARGEST) << 32) / mss : 0;
}

static __always_inline void windowed_follow(struct windowed *state)
{
	if (state->ebe.filter.rtt_max)
		cubic_set_w_max(&state->cubic, scaled_to_fixed(state->ebe.filter.ceiling));
}

/* Estimators process every acknowledgment. */
static __always_inline void windowed_estimate(struct windowed *state, const int rule, const struct ack_event *ack)
{
	if (rule == RULE_WESTWOOD)
		westwood_on_ack(&state->westwood, ack);
	if (rule == RULE_SARBE)
		sarbe_on_ack(&state->sarbe, ack);
	if (rule == RULE_CUBIC_EBE &&
	    ebe_on_ack(&state->ebe, ack, scaled_of_fixed(segments_of(state->window, ack->mss))))
		windowed_follow(state);
}

static __always_inline u64 windowed_avoidance(struct windowed *state, const int rule, const struct ack_event *ack,
					      u64 acked)
{
	if (rule == RULE_CUBIC_EBE) {
		fixed growth = cubic_growth(&state->cubic, ack->now, segments_of(state->window, ack->mss),
					    segments_of(acked, ack->mss), ack->rtt.minimum);
		u64 window = state->window + cubic_pay(&state->cubic, growth, ack->mss);

		return state->ebe.probing ? maximum(window, state->window + acked) : window;
	}
	state->bytes_acked += acked;
	if (state->bytes_acked < state->window)
		return state->window;
	state->bytes_acked -= state->window;
	return state->window + ack->mss;
}

/*
 * Returns the bytes of an acknowledgment that count for window growth: none for duplicates before the
 * cumulative acknowledgment advances (RFC 3042), none for acknowledgments that echo a mark (RFC 3168, section
 * 6.1.2).
 */
static __always_inline u64 windowed_counts(u64 *waiting, const struct ack_event *ack)
{
	u64 acked = ack->acked;

	if (ack->in_recovery) {
		*waiting = 0;
		return 0;
	}
	if (ack->duplicate) {
		if (ack->window_limited && !ack->marked)
			*waiting += acked;
		return 0;
	}
	acked += *waiting;
	*waiting = 0;
	return ack->window_limited && !ack->marked ? acked : 0;
}

static __always_inline void windowed_on_ack(struct windowed *state, const int rule, const struct ack_event *ack)
{
	u64 target, acked = windowed_counts(&state->waiting, ack);

	windowed_estimate(state, rule, ack);
	if (!ack->in_recovery && state->repairing) {
		state->repairing = false;
		if (rule == RULE_WESTWOOD && westwood_target(&state->westwood, ack->mss, &target)) {
			target = minimum(target, WINDOW_LARGEST);
			state->window = state->ssthresh = maximum(target, 2 * ack->mss);
		}
	}
	if (!acked)
		return;
	if (state->window >= state->ssthresh) {
		state->window = minimum(windowed_avoidance(state, rule, ack, acked), WINDOW_LARGEST);
		state->ssthresh = minimum(state->ssthresh, state->window);
	} else {
		u64 growth = state->cautious ? minimum(acked, ack->mss) : acked;

		state->window = minimum(minimum(state->window + growth, state->ssthresh), WINDOW_LARGEST);
	}
}

/* Returns the threshold after a signal, before its floor is applied. */
static __always_inline u64 windowed_reduce(struct windowed *state, const int rule, const struct congestion_event *event)
{
	bool timeout = event->signal == SIGNAL_TIMEOUT;
	u64 half = event->flight_size / 2, target;

	if (rule == RULE_CUBIC_EBE) {
		fixed cwnd = segments_of(state->window, event->mss);
		/* Values that are equal within the rounding error of the filter do not count as less. */
		bool released = state->cubic.w_max && cwnd + (cwnd >> 24) < state->cubic.w_max;

		state->cubic.in_epoch = false;
		state->cubic.owed = 0;
		state->cubic.w_max = timeout ? 0 : released ? fixed_multiply(cwnd, CUBIC_RELEASED) : cwnd;
		if (timeout)
			windowed_follow(state);
		else
			ebe_on_loss(&state->ebe, event->now, scaled_of_fixed(state->cubic.w_max), event->rtt.latest);
		/* Four fifths, to the nearest byte. */
		return (state->window * 8 + 5) / 10;
	}
	state->bytes_acked = 0;
	if (rule == RULE_WESTWOOD) {
		bool known = westwood_target(&state->westwood, event->mss, &target);

		state->westwood.relearn |= timeout;
		return known && event->signal != SIGNAL_LOSS ? target : half;
	}
	if (rule == RULE_SARBE && sarbe_target(&state->sarbe, event->mss, &target))
		return target;
	return half;
}

static __always_inline void windowed_on_congestion(struct windowed *state, const int rule,
						   const struct congestion_event *event)
{
	bool timeout = event->signal == SIGNAL_TIMEOUT;

	state->waiting = 0;
	state->cautious |= timeout;
	state->repairing = event->signal == SIGNAL_LOSS;
	if (!(timeout && event->consecutive > 1) || state->ssthresh == NO_THRESHOLD)
		state->ssthresh = maximum(windowed_reduce(state, rule, event), 2 * event->mss);
	state->window = timeout ? event->mss : minimum(state->window, state->ssthresh);
}
