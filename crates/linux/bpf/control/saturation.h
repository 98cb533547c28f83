/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Whether a path that says "low" is full all the same. Senders write VCP's code for low load themselves, so that a path without any
 * router, or whose router's daemon ended, says "low" for ever, and loss differentiation takes every loss for an error of the path.
 *
 * Errors take the same share of any window: what a round trip delivers grows with the window. Where something is full it does not:
 * what the window has more is lost. So: since the last code above low the window doubled, a round trip does not deliver a quarter more
 * than it did (as BBR finds the pipe full, draft-ietf-ccwg-bbr, 5.3.1.2), and three losses were dismissed meanwhile. Of the window that
 * doubled at least three eighths of what once arrived is lost by then; errors that do not depend on the window never look so. A
 * single burst of errors does not either: the window doubles in no less than 2.3 s, or 4.7 round trips.
 */
#pragma once

#include "event.h"

/* Losses that were dismissed, each a recovery or a first timeout of its own. */
#define SATURATION_LOSSES 3
/* The shortest time over which deliveries are measured: VCP's interval. */
#define SATURATION_INTERVAL 200000ULL

struct saturation {
	/* The measurement under way: when it began (zero: none), and what arrived since, bytes. */
	u64 began;
	u64 acked;
	/* What a round trip delivered when that last grew by a quarter, and the window then, bytes; zero before the first measurement. */
	u64 delivered;
	u64 window;
	/* Dismissed since then. */
	u32 losses;
	u32 unused;
};

/* An acknowledgment without a code above low came. */
static __always_inline void saturation_on_ack(struct saturation *saturation, const struct ack_event *ack, u64 window)
{
	u64 elapsed, delivered;

	if (!saturation->began)
		saturation->began = ack->now;
	saturation->acked += ack->acked;
	elapsed = ack->now - saturation->began;
	if (elapsed < maximum(SATURATION_INTERVAL, ack->rtt.smoothed))
		return;
	delivered = saturation->acked * ack->rtt.smoothed / elapsed;
	saturation->began = ack->now;
	saturation->acked = 0;
	if (saturation->delivered && delivered < saturation->delivered + saturation->delivered / 4)
		return;
	saturation->delivered = delivered;
	saturation->window = window;
	saturation->losses = 0;
}

/* A loss was dismissed: whether it came from a path that is full. */
static __always_inline bool saturation_on_loss(struct saturation *saturation, u64 window)
{
	saturation->losses += saturation->losses < SATURATION_LOSSES;
	return saturation->losses >= SATURATION_LOSSES && saturation->delivered && window >= 2 * saturation->window;
}
