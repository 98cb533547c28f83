/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Detection of a full path that reports low load. Senders write VCP's code for low load themselves: a path
 * without any router, or whose router's daemon ended, always reports low load, and loss differentiation
 * attributes every loss to a channel error.
 *
 * Errors affect the same fraction of any window: the data delivered in a round trip grows with the window. On
 * a full path it does not: the additional packets are lost. The path is therefore considered full if, since
 * the last code above low, the window doubled, the delivery per round trip did not grow by a quarter (as BBR
 * detects a full pipe, draft-ietf-ccwg-bbr, 5.3.1.2), and three losses were dismissed meanwhile. At least
 * three eighths of the previous delivery is lost by the time the window has doubled; errors that do not
 * depend on the window never have this effect. Neither does a single burst of errors: the window doubles in
 * no less than 2.3 s, or 4.7 round trips.
 */
#pragma once

#include "event.h"

/* Number of dismissed losses, each a separate recovery or a first timeout. */
#define SATURATION_LOSSES 3
/* Minimum duration of a delivery measurement: VCP's interval. */
#define SATURATION_INTERVAL 200000ULL

struct saturation {
	/* The current measurement: its start (zero: none), and the bytes delivered since. */
	u64 began;
	u64 acked;
	/*
	 * The delivery per round trip when it last grew by a quarter, and the window at that time, bytes; zero
	 * before the first measurement.
	 */
	u64 delivered;
	u64 window;
	/* Losses dismissed since then. */
	u32 losses;
	u32 unused;
};

/* Processes an acknowledgment without a code above low. */
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

/* Processes a dismissed loss; returns whether the path is full. */
static __always_inline bool saturation_on_loss(struct saturation *saturation, u64 window)
{
	saturation->losses += saturation->losses < SATURATION_LOSSES;
	return saturation->losses >= SATURATION_LOSSES && saturation->delivered && window >= 2 * saturation->window;
}
