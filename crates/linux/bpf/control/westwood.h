/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Delivery rate estimates from acknowledgments: Westwood+ with the arithmetic of Linux, and SARBE's stability
 * filter over samples by the receiver's timestamps. Follows crates/estimate/src/ack_rate/.
 */
#pragma once

#include "event.h"

/* Milliseconds: the ticks of Westwood+ (HZ = 1000) and of the stamps of Linux receivers. */
#define WESTWOOD_TICK 1000ULL
#define WESTWOOD_SHORTEST 50
#define WESTWOOD_INITIAL_RTT 20000

/* Returns the data that an acknowledgment represents: data already counted by duplicates is not counted again. */
static __always_inline u64 acked_count(u64 *accounted, const struct ack_event *ack)
{
	u64 counted;

	if (ack->duplicate) {
		*accounted += ack->mss;
		return ack->mss;
	}
	if (ack->advance <= ack->mss)
		return ack->advance;
	if (*accounted >= ack->advance) {
		*accounted -= ack->advance;
		return ack->mss;
	}
	counted = ack->advance - *accounted;
	*accounted = 0;
	return counted;
}

/* Times in ticks, rates in bytes per tick. */
struct westwood {
	u64 accounted;
	u64 amount;
	u64 window_start;
	u64 once_filtered;
	u64 estimate;
	u64 rtt;
	u64 minimum_rtt;
	bool started;
	bool relearn;
	u8 unused[6];
};

static __always_inline void westwood_start(struct westwood *westwood)
{
	*westwood = (struct westwood){
		.rtt = WESTWOOD_INITIAL_RTT, .minimum_rtt = WESTWOOD_INITIAL_RTT, .relearn = true
	};
}

static __always_inline void westwood_on_ack(struct westwood *westwood, const struct ack_event *ack)
{
	u64 now = ack->now / WESTWOOD_TICK, length, sample, amount;

	amount = acked_count(&westwood->accounted, ack);
	if (!westwood->started) {
		westwood->started = true;
		westwood->window_start = now;
		return;
	}
	length = difference(now, westwood->window_start);
	if (length > maximum(westwood->rtt, WESTWOOD_SHORTEST)) {
		sample = westwood->amount / length;
		if (!westwood->once_filtered && !westwood->estimate) {
			westwood->once_filtered = westwood->estimate = sample;
		} else {
			westwood->once_filtered = (7 * westwood->once_filtered + sample) >> 3;
			westwood->estimate = (7 * westwood->estimate + westwood->once_filtered) >> 3;
		}
		westwood->amount = 0;
		westwood->window_start = now;
	}
	westwood->amount += amount;
	westwood->minimum_rtt =
		westwood->relearn ? westwood->rtt : minimum(westwood->rtt, westwood->minimum_rtt);
	westwood->relearn = false;
	if (ack->rtt.sample)
		westwood->rtt = (ack->rtt.sample + WESTWOOD_TICK - 1) / WESTWOOD_TICK;
}

/* Computes bandwidth times the smallest round-trip time, in whole segments; returns false if either is not known. */
static __always_inline bool westwood_target(const struct westwood *westwood, u32 mss, u64 *bytes)
{
	if (!westwood->started || (!westwood->once_filtered && !westwood->estimate) || !mss)
		return false;
	*bytes = westwood->estimate * westwood->minimum_rtt / mss * mss;
	return true;
}

/* Number of samples in the window of SARBE's filter. */
#define SARBE_SAMPLES 8
/* Fractional bits of rates in byte/s. */
#define SARBE_POINT 8

struct sarbe {
	u64 accounted;
	u64 amount;
	/* The last sample, U, the estimate, and the last values of U. */
	u64 previous;
	u64 instability;
	u64 estimate;
	u64 instabilities[SARBE_SAMPLES];
	u32 stamp;
	u32 next;
	/* Smallest round-trip time of the flow, microseconds; zero before the first sample. */
	u32 minimum_rtt;
	bool started;
	bool sampled;
	u8 unused[2];
};

/*
 * U = 0.8 U + 0.2 |b - b-1|; alpha = U over the largest of the last eight; alpha is the weight of the
 * previous estimate.
 */
static __always_inline void sarbe_filter(struct sarbe *sarbe, u64 sample)
{
	u64 moved, largest = 0;
	fixed alpha = 0;
	int i;

	if (!sarbe->sampled) {
		sarbe->sampled = true;
		sarbe->previous = sarbe->estimate = sample;
	}
	moved = difference(sample, sarbe->previous) + difference(sarbe->previous, sample);
	sarbe->previous = sample;
	sarbe->instability = (4 * sarbe->instability + moved) / 5;
	sarbe->instabilities[sarbe->next & (SARBE_SAMPLES - 1)] = sarbe->instability;
	sarbe->next++;
	for (i = 0; i < SARBE_SAMPLES; i++)
		largest = maximum(largest, sarbe->instabilities[i]);
	if (largest)
		alpha = minimum(fixed_divide(sarbe->instability, largest), FIXED_ONE);
	sarbe->estimate = fixed_multiply(alpha, sarbe->estimate) + fixed_multiply(FIXED_ONE - alpha, sample);
}

static __always_inline void sarbe_on_ack(struct sarbe *sarbe, const struct ack_event *ack)
{
	u64 amount = acked_count(&sarbe->accounted, ack);
	u32 ticks;

	if (ack->rtt.sample && (!sarbe->minimum_rtt || ack->rtt.sample < sarbe->minimum_rtt))
		sarbe->minimum_rtt = ack->rtt.sample;
	if (!sarbe->started) {
		sarbe->started = ack->has_stamp;
		sarbe->stamp = ack->receiver_stamp;
		return;
	}
	sarbe->amount += amount;
	if (!ack->has_stamp)
		return;
	/* Timestamps wrap around; a step back means that the acknowledgment was reordered. */
	ticks = ack->receiver_stamp - sarbe->stamp;
	if (!ticks || ticks >> 31)
		return;
	sarbe_filter(sarbe, (minimum(sarbe->amount, 1ULL << 40) * 1000 << SARBE_POINT) / ticks);
	sarbe->stamp = ack->receiver_stamp;
	sarbe->amount = 0;
}

static __always_inline bool sarbe_target(const struct sarbe *sarbe, u32 mss, u64 *bytes)
{
	u64 product;

	if (!sarbe->sampled || !sarbe->minimum_rtt || !mss)
		return false;
	/* Rates below 2^36 byte/s and times of up to 2^19 us fit; the limits do not make slower paths faster. */
	product = minimum(sarbe->estimate, 1ULL << 44) * minimum(sarbe->minimum_rtt, 1ULL << 19);
	if (sarbe->minimum_rtt >> 19)
		product = (sarbe->estimate >> SARBE_POINT) * sarbe->minimum_rtt << SARBE_POINT;
	*bytes = (product / MICROSECONDS >> SARBE_POINT) / mss * mss;
	return true;
}
