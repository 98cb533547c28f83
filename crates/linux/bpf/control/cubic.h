/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUBIC of 2008 (Ha, Rhee and Xu) whose plateau follows EBE (EBE-J, section III-C). Follows
 * crates/control/src/{cubic,cubic_ebe}.rs with the options of the scheme cubic-ebe: beta 0.8, C 0.4, fast
 * convergence, Reno-friendly; probing doubles the window in a round trip.
 */
#pragma once

#include "ebe.h"

#define CUBIC_BETA FIXED(0.8)
/* 3 (1 - beta) / (1 + beta), (1 + beta) / 2. */
#define CUBIC_ALPHA FIXED(1.0 / 3.0)
#define CUBIC_RELEASED FIXED(0.9)
/* Times on the curve are limited to this distance from its inflection, seconds. */
#define CUBIC_FARTHEST (1000ULL << 32)
/* Upper bound of the window, segments. */
#define CUBIC_LARGEST ((fixed)1 << (20 + 32))

struct cubic {
	/* Segments; zero before the first loss and after a timeout. */
	fixed w_max;
	/* The current congestion avoidance epoch. */
	fixed start;
	fixed origin;
	fixed k;
	fixed reno;
	u64 began;
	/* Fractional bytes of growth not yet added to the window, in 2^-32 byte. */
	u64 owed;
	bool in_epoch;
	u8 unused[7];
};

/* Recomputes the curve from the same start to another plateau. */
static __always_inline void cubic_redraw(struct cubic *cubic, fixed w_max)
{
	cubic->origin = maximum(w_max, cubic->start);
	/* The cube root would amplify the rounding error of the filter's arithmetic. */
	if (cubic->origin - cubic->start <= cubic->start >> 24)
		cubic->origin = cubic->start;
	/* Divide by C = 2 / 5. */
	cubic->k = fixed_cube_root((cubic->origin - cubic->start) / 2 * 5);
}

static __always_inline void cubic_set_w_max(struct cubic *cubic, fixed w_max)
{
	cubic->w_max = minimum(w_max, CUBIC_LARGEST);
	if (cubic->in_epoch)
		cubic_redraw(cubic, cubic->w_max);
}

/* Returns C (t - K)^3 + W_max at `at` seconds after the start, at least zero. */
static __always_inline fixed cubic_curve(const struct cubic *cubic, fixed at)
{
	bool before = at < cubic->k;
	fixed away = before ? cubic->k - at : at - cubic->k, cube;

	away = minimum(away, CUBIC_FARTHEST);
	cube = fixed_multiply(fixed_multiply(away, away), away) / 5 * 2;
	return before ? difference(cubic->origin, cube) : minimum(cubic->origin + cube, 2 * CUBIC_LARGEST);
}

/*
 * Returns the growth in segments for `acked` segments at the window `cwnd`; the smallest round-trip time is
 * in microseconds.
 */
static __always_inline fixed cubic_growth(struct cubic *cubic, u64 now, fixed cwnd, fixed acked, u32 rtt_min)
{
	fixed least = fixed_seconds(rtt_min), at, ahead, share = fixed_divide(acked, cwnd), count;

	if (!cubic->in_epoch) {
		cubic->in_epoch = true;
		cubic->began = now;
		cubic->start = cubic->reno = cubic->origin = cwnd;
		cubic->k = 0;
		if (cubic->w_max)
			cubic_redraw(cubic, cubic->w_max);
	}
	cubic->reno = minimum(cubic->reno + fixed_multiply(CUBIC_ALPHA, share), CUBIC_LARGEST);
	at = fixed_seconds(difference(now, cubic->began)) + least;
	ahead = cubic_curve(cubic, at);
	count = ahead > cwnd ? fixed_divide(cwnd, ahead - cwnd) : 100 * cwnd;
	/* At most 16 segments in 100 ms, once the plateau is reached. */
	if (least && at >= cubic->k)
		count = maximum(count, fixed_divide(cwnd, least) / 160);
	if (!cubic->w_max)
		count = 50ULL << 32;
	if (cubic->reno > cwnd)
		count = minimum(count, fixed_divide(cwnd, cubic->reno - cwnd));
	/* Keep the dividend within the range of the division. */
	count = minimum(count, 1ULL << 55);
	return fixed_divide(acked, maximum(count, FIXED_ONE));
}

/* Returns the whole bytes of growth and keeps the fraction (2^-32 byte). */
static __always_inline u64 cubic_pay(struct cubic *cubic, fixed segments, u32 mss)
{
	u64 whole = (segments >> 32) * mss, part = (u64)(u32)segments * mss;

	cubic->owed += (u32)part;
	whole += (part >> 32) + (cubic->owed >> 32);
	cubic->owed = (u32)cubic->owed;
	return whole;
}
