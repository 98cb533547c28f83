/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * EBE at a sender (EBE-J, sections II-A and III): every 200 ms an extended Kalman filter corrects the ceiling
 * W_max that the last loss set, and the maintainer decides whether to probe beyond it. Follows
 * crates/estimate/src/{ebe_ceiling,ceiling_filter,rtt_maintainer}.rs with their default parameters.
 */
#pragma once

#include "event.h"
#include "scaled.h"

/* Periods of the measurement timer and the estimation timer. */
#define EBE_SAMPLING 10000ULL
#define EBE_INTERVAL 200000ULL
/* The timers restart after this number of intervals without an acknowledgment. */
#define EBE_LONGEST_SILENCE 50

/* The variant of the paper's filter; `enum` of the Rust crate. */
enum ebe_profile {
	EBE_JOURNAL = 0,
	EBE_RECOMMENDED = 1,
};

struct ebe_filter {
	/* Welford's running variance of all measurements, in segments. */
	u64 count;
	scaled mean;
	scaled deviation;
	/* State since the last loss; rtt_max is zero before the first. Round-trip times in seconds. */
	scaled rtt_max;
	scaled ceiling;
	scaled rtt;
	scaled p11;
	scaled p12;
	scaled p22;
	/* The ceiling before the last step. */
	scaled before;
	/* Microseconds since the last correction of the ceiling. */
	u64 since_correction;
	u64 profile;
};

struct ebe {
	struct ebe_filter filter;
	/* The current interval: its start, the current round-trip time (us), number of samples and their sum. */
	u64 began;
	u64 sum;
	u32 samples;
	u32 held;
	/* The maintainer is inactive before this time. */
	u64 rests_until;
	/* The maintainer's state: the mean round-trip time of the last interval, seconds; zero: none. */
	scaled previous;
	bool running;
	bool probing;
	u8 unused[6];
};

/* 10^-6, 10^-5, 5 10^-6, 10^-4, 10^9; 0.05, 0.15, 0.2, 0.3, 0.5. */
#define MILLIONTH scaled_divide(scaled_number(1, 0), scaled_number(1000000, 0))
#define RATIO(above, below) scaled_divide(scaled_number(above, 0), scaled_number(below, 0))

static __always_inline void ebe_start(struct ebe *ebe, u64 profile)
{
	*ebe = (struct ebe){ 0 };
	ebe->filter.since_correction = ~0ULL;
	ebe->filter.profile = profile;
}

/* Registers a loss at this window (segments) and round-trip time (seconds). */
static __always_inline void ebe_register(struct ebe_filter *filter, scaled w_max, scaled rtt_max)
{
	if (!rtt_max)
		return;
	filter->rtt_max = rtt_max;
	filter->ceiling = scaled_minimum(w_max, scaled_number(1000000000, 0));
	filter->before = filter->ceiling;
	filter->rtt = rtt_max;
	filter->p11 = scaled_number(1, 0);
	filter->p12 = 0;
	filter->p22 = filter->profile == EBE_RECOMMENDED ? RATIO(1, 10000) : scaled_number(1, 0);
}

static __always_inline void ebe_measure(struct ebe_filter *filter, scaled measured)
{
	scaled from_old_mean = scaled_subtract(measured, filter->mean);

	filter->count++;
	filter->mean = scaled_add(filter->mean, scaled_divide(from_old_mean, scaled_number(filter->count, 0)));
	filter->deviation = scaled_add(filter->deviation,
				       scaled_multiply(from_old_mean, scaled_subtract(measured, filter->mean)));
}

/* The measurement noise R, segments squared. */
static __always_inline scaled ebe_measurement_noise(const struct ebe_filter *filter)
{
	scaled noise = 0;

	if (filter->count > 1)
		noise = scaled_divide(filter->deviation, scaled_number(filter->count - 1, 0));
	noise = scaled_maximum(noise, RATIO(1, 100000));
	if (filter->profile == EBE_RECOMMENDED) {
		scaled share = scaled_multiply(RATIO(1, 20), filter->ceiling);

		noise = scaled_maximum(noise, scaled_multiply(share, share));
	}
	return noise;
}

/* EBE-J eq. 21: whether to correct, near the plateau and somewhat slower than at the loss, or much faster. */
static __always_inline bool ebe_corrects(struct ebe_filter *filter, scaled lambda, scaled window, scaled rtt)
{
	scaled away = scaled_absolute(scaled_subtract(window, filter->before));
	bool at_plateau = scaled_less(away, scaled_multiply(RATIO(3, 10), filter->before));
	bool slower = lambda && !scaled_below_zero(lambda) && scaled_less(lambda, RATIO(1, 5));
	bool club = (at_plateau && slower) || scaled_less(lambda, scaled_negate(RATIO(1, 2)));

	if (!club)
		return false;
	if (filter->profile == EBE_RECOMMENDED && filter->since_correction != ~0ULL &&
	    scaled_less(scaled_multiply(scaled_number(filter->since_correction, 0), MILLIONTH), rtt))
		return false;
	filter->since_correction = 0;
	return true;
}

/*
 * Runs one cycle at the end of an interval: the measured ceiling and the window in segments, the mean
 * round-trip time in seconds, the interval's length in microseconds. EBE-J eqs. 5 to 8 and 21 to 26 as
 * corrected in docs/reference/estimators/ebe-ceiling.md.
 */
SUBPROGRAM int ebe_step(struct ebe_filter *filter, u64 measured, u64 window, u64 rtt, u64 interval)
{
	scaled lambda, j12 = 0, x1, x2, p11, p12, p22, noise, s, k1, k2, residual, before;

	if (!filter || !filter->rtt_max)
		return 0;
	ebe_measure(filter, measured);
	if (filter->since_correction != ~0ULL)
		filter->since_correction += interval;

	x1 = before = filter->ceiling;
	x2 = rtt;
	lambda = scaled_subtract(scaled_divide(rtt, filter->rtt_max), scaled_number(1, 0));
	if (ebe_corrects(filter, lambda, window, rtt)) {
		x1 = scaled_subtract(x1, scaled_multiply(lambda, filter->before));
		j12 = scaled_negate(scaled_divide(filter->before, filter->rtt_max));
	}

	/* P- = J P J' + noise with J = [1 j12; 0 1]. */
	p12 = scaled_multiply(j12, filter->p12);
	p11 = scaled_add(filter->p11, scaled_add(p12, p12));
	p11 = scaled_add(p11, scaled_multiply(scaled_multiply(j12, j12), filter->p22));
	p11 = scaled_add(scaled_not_below_zero(p11), RATIO(1, 100000));
	p12 = scaled_add(filter->p12, scaled_multiply(j12, filter->p22));
	p22 = scaled_add(filter->p22, RATIO(5, 1000000));

	noise = ebe_measurement_noise(filter);
	s = scaled_add(p11, noise);
	k1 = scaled_divide(p11, s);
	k2 = scaled_divide(p12, s);
	residual = scaled_subtract(measured, x1);
	x1 = scaled_add(x1, scaled_multiply(k1, residual));
	x2 = scaled_add(x2, scaled_multiply(k2, residual));

	filter->p11 = scaled_divide(scaled_multiply(noise, p11), s);
	filter->p12 = scaled_divide(scaled_multiply(noise, p12), s);
	filter->p22 = scaled_not_below_zero(scaled_subtract(p22, scaled_divide(scaled_multiply(p12, p12), s)));
	filter->ceiling = scaled_minimum(scaled_not_below_zero(x1), scaled_number(1000000000, 0));
	filter->rtt = scaled_not_below_zero(x2);
	filter->before = before;
	return 0;
}

/*
 * The maintainer: on if the round-trip time does not grow and was below the threshold twice, off if it grows
 * and was above it.
 */
static __always_inline void ebe_maintain(struct ebe *ebe, scaled mean, u32 smallest)
{
	scaled least = scaled_multiply(scaled_number(smallest, 0), MILLIONTH);
	scaled threshold = scaled_subtract(ebe->filter.rtt_max, least);
	scaled previous = ebe->previous;

	threshold = scaled_add(least, scaled_multiply(RATIO(3, 20), threshold));
	ebe->previous = mean;
	if (!previous)
		return;
	if (!scaled_less(previous, mean)) {
		if (scaled_less(mean, threshold) && scaled_less(previous, threshold))
			ebe->probing = true;
	} else if (scaled_less(threshold, mean) && scaled_less(threshold, previous)) {
		ebe->probing = false;
	}
}

/* Completes an interval; `window` in segments. */
SUBPROGRAM int ebe_estimate(struct ebe *ebe, u64 ended, u64 window, u32 smallest)
{
	scaled mean;

	if (!ebe || !ebe->filter.rtt_max || !ebe->samples)
		return 0;
	mean = scaled_divide(scaled_number(ebe->sum, 0), scaled_number((u64)ebe->samples * MICROSECONDS, 0));
	ebe_step(&ebe->filter, ebe->filter.ceiling, window, mean, EBE_INTERVAL);
	if (ended >= ebe->rests_until)
		ebe_maintain(ebe, mean, smallest);
	return 0;
}

/* Takes the samples of the current round-trip time that are due. */
static __always_inline void ebe_take(struct ebe *ebe, u64 now)
{
	u64 due = difference(now, ebe->began) / EBE_SAMPLING;

	if (due > ebe->samples) {
		ebe->sum += (due - ebe->samples) * ebe->held;
		ebe->samples = due;
	}
}

/* Processes an acknowledgment at a window in segments. Returns whether an interval ended. */
static __always_inline bool ebe_on_ack(struct ebe *ebe, const struct ack_event *ack, scaled window)
{
	bool ended = false;
	int intervals;

	if (!ebe->running) {
		if (ack->rtt.latest) {
			ebe->running = true;
			ebe->began = ack->now;
			ebe->held = ack->rtt.latest;
		}
		return false;
	}
	if (ack->now > ebe->began + EBE_INTERVAL * (EBE_LONGEST_SILENCE + 1)) {
		ebe->began = ack->now;
		ebe->samples = 0;
		ebe->sum = 0;
	}
	for (intervals = 0; intervals <= EBE_LONGEST_SILENCE; intervals++) {
		u64 ends = ebe->began + EBE_INTERVAL;

		if (ack->now < ends)
			break;
		ebe_take(ebe, ends);
		ebe_estimate(ebe, ends, window, ack->rtt.minimum);
		ebe->began = ends;
		ebe->samples = 0;
		ebe->sum = 0;
		ended = true;
	}
	ebe_take(ebe, ack->now);
	if (ack->rtt.latest)
		ebe->held = ack->rtt.latest;
	return ended;
}

static __always_inline void ebe_on_loss(struct ebe *ebe, u64 now, scaled w_max, u32 latest_rtt)
{
	ebe_register(&ebe->filter, w_max, scaled_multiply(scaled_number(latest_rtt, 0), MILLIONTH));
	ebe->rests_until = now + latest_rtt;
	ebe->previous = 0;
	ebe->probing = false;
}
