/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * VCP's sender (Xia et al., SIGCOMM'05): multiplicative increase at low load, additive increase at high load,
 * one decrease at overload, then a freeze and additive increase for a round trip. It includes the loss
 * differentiation of VCP-W, section IV-C: the sender responds to a loss only while the last 16
 * acknowledgments reported overload. Follows crates/control/src/{vcp,loss_differentiation}.rs with their
 * default parameters.
 */
#pragma once

#include "event.h"

/* t_rho, also the period of the senders' timers. */
#define VCP_INTERVAL 200000ULL
#define VCP_TICK 10000ULL
/* ln(1 + xi), xi = 0.25 (1 - 0.8) / 0.8; beta. */
#define VCP_LOG_GROWTH FIXED(0.060624621816434840)
#define VCP_BETA FIXED(0.875)
/* The round-trip times between which additive increase follows the square. */
#define VCP_LOWER_BREAK 20000ULL
#define VCP_UPPER_BREAK 500000ULL
/* Upper bound of the window, packets. */
#define VCP_LARGEST ((fixed)1 << (20 + 32))
/* The last 16 acknowledgments, all of which must report congestion. */
#define VCP_HISTORY 0xffffU

enum vcp_state {
	VCP_NORMAL = 0,
	VCP_FROZEN = 1,
	VCP_ADDITIVE = 2,
};

struct vcp {
	/* The window, packets. */
	fixed window;
	/* The window before the last signal, to undo that signal if it proves spurious; zero: none. */
	fixed before_signal;
	/* The relative growth per round trip at low load, for the smallest round-trip time below. */
	fixed growth;
	/* End of the freeze, or of the additive increase after it. */
	u64 until;
	u32 growth_rtt;
	u32 smoothed_rtt;
	u32 mss;
	/* One bit for each acknowledgment, the latest in the lowest bit. */
	u32 history;
	u8 state;
	/* The last signal was attributed to a channel error, and its losses are being repaired. */
	bool dismissed;
	bool repairing;
	u8 unused[5];
};

static __always_inline void vcp_start(struct vcp *vcp, u32 window, u32 mss)
{
	*vcp = (struct vcp){ .mss = mss };
	if (mss)
		vcp->window = ((u64)window << 32) / mss;
	vcp->window = minimum(maximum(vcp->window, FIXED_ONE), VCP_LARGEST);
}

/*
 * Returns (1 + xi)^min(rtt / t_rho, 2.5) - 1 by the series of the exponential function; its argument is at
 * most 0.152.
 */
static __always_inline fixed vcp_growth(u32 rtt)
{
	u64 bounded = minimum(rtt, VCP_UPPER_BREAK);
	fixed argument = fixed_multiply(VCP_LOG_GROWTH, (bounded << 32) / VCP_INTERVAL);
	fixed sum = FIXED_ONE;

	/* x (1 + x/2 (1 + x/3 (1 + x/4 (1 + x/5 (1 + x/6))))), from the inside. */
	sum = FIXED_ONE + argument / 6;
	sum = FIXED_ONE + fixed_multiply(argument, sum) / 5;
	sum = FIXED_ONE + fixed_multiply(argument, sum) / 4;
	sum = FIXED_ONE + fixed_multiply(argument, sum) / 3;
	sum = FIXED_ONE + fixed_multiply(argument, sum) / 2;
	return fixed_multiply(argument, sum);
}

/* Returns the packets that one round trip adds at high load: g(rtt / t_rho). */
static __always_inline fixed vcp_addition(u32 rtt)
{
	fixed ratio = ((u64)rtt << 32) / VCP_INTERVAL;
	const fixed upper = FIXED(2.5);

	if (rtt <= VCP_LOWER_BREAK)
		return ratio / 10;
	if (rtt <= VCP_UPPER_BREAK)
		return fixed_multiply(ratio, ratio);
	return ratio - upper + fixed_multiply(upper, upper);
}

/* Returns whether the window changes, and by which load. */
static __always_inline bool vcp_admit(struct vcp *vcp, const struct ack_event *ack, u8 *load)
{
	if (vcp->state == VCP_FROZEN && ack->now >= vcp->until) {
		vcp->state = VCP_ADDITIVE;
		vcp->until += ack->rtt.smoothed;
	}
	if (vcp->state == VCP_ADDITIVE && ack->now >= vcp->until)
		vcp->state = VCP_NORMAL;
	switch (vcp->state) {
	case VCP_FROZEN:
		return false;
	case VCP_ADDITIVE:
		*load = LOAD_HIGH;
		return true;
	default:
		if (*load == LOAD_OVERLOAD) {
			vcp->state = VCP_FROZEN;
			vcp->until = (ack->now + VCP_INTERVAL + VCP_TICK - 1) / VCP_TICK * VCP_TICK;
		}
		return true;
	}
}

/* Whether this acknowledgment carries feedback of routers. */
static __always_inline bool vcp_told(const struct ack_event *ack)
{
	return ack->feedback == FEEDBACK_LOAD && ack->load <= LOAD_OVERLOAD;
}

static __always_inline void vcp_move(struct vcp *vcp, const struct ack_event *ack)
{
	fixed packets = 0, growth;
	u8 load = ack->load;

	if (ack->window_limited && ack->mss)
		packets = ((u64)ack->acked << 32) / ack->mss;
	if (!vcp_admit(vcp, ack, &load))
		return;
	switch (load) {
	case LOAD_LOW:
		if (vcp->growth_rtt != ack->rtt.minimum) {
			vcp->growth_rtt = ack->rtt.minimum;
			vcp->growth = vcp_growth(ack->rtt.minimum);
		}
		growth = fixed_multiply(packets, vcp->growth);
		break;
	case LOAD_HIGH:
		/* Compute the fraction of the window first: it is at most a few packets, so that the product fits. */
		growth = fixed_multiply(vcp_addition(ack->rtt.minimum), fixed_divide(packets, vcp->window));
		break;
	default:
		vcp->window = maximum(fixed_multiply(vcp->window, VCP_BETA), FIXED_ONE);
		return;
	}
	vcp->window = minimum(vcp->window + growth, VCP_LARGEST);
}

static __always_inline void vcp_on_ack(struct vcp *vcp, const struct ack_event *ack)
{
	bool told = vcp_told(ack);
	bool congested = (told && ack->load == LOAD_OVERLOAD) || ack->marked;
	bool in_recovery = ack->in_recovery;

	vcp->history = vcp->history << 1 | congested;
	vcp->mss = ack->mss;
	vcp->smoothed_rtt = ack->rtt.smoothed;
	if (vcp->repairing) {
		/* A dismissed loss does not affect the window. */
		vcp->repairing = in_recovery;
		in_recovery = false;
	}
	if (told && !in_recovery)
		vcp_move(vcp, ack);
}

/* Whether a loss at this time would be attributed to a channel error. */
static __always_inline bool vcp_dismisses(const struct vcp *vcp)
{
	return (vcp->history & VCP_HISTORY) != VCP_HISTORY;
}

static __always_inline void vcp_on_congestion(struct vcp *vcp, const struct congestion_event *event)
{
	bool timeout = event->signal == SIGNAL_TIMEOUT;
	bool repeated = timeout && event->consecutive > 1;

	vcp->mss = event->mss;
	if (event->signal == SIGNAL_MARK)
		vcp->dismissed = false;
	else if (!repeated)
		vcp->dismissed = vcp_dismisses(vcp);
	vcp->repairing = vcp->dismissed;
	if (vcp->dismissed)
		return;
	if (!repeated)
		vcp->before_signal = vcp->window;
	vcp->window = timeout ? FIXED_ONE : maximum(vcp->window / 2, FIXED_ONE);
}

static __always_inline void vcp_on_spurious(struct vcp *vcp)
{
	if (vcp->dismissed)
		return;
	vcp->window = maximum(vcp->window, vcp->before_signal);
	vcp->before_signal = 0;
}

/* Returns the window in bytes of payload. */
static __always_inline u64 vcp_window(const struct vcp *vcp)
{
	/*
	 * At most 2^52 times a segment of a packet would not fit: multiply whole packets and the fraction
	 * separately.
	 */
	u64 bytes = (vcp->window >> 32) * vcp->mss + ((u64)(u32)vcp->window * vcp->mss >> 32);

	/* With segments of more than 2 kB this window exceeds the bound in bytes. */
	return minimum(bytes, WINDOW_LARGEST);
}

/*
 * Returns the time between two packets of a small window on a long path, microseconds: 2^ceil(log2 window)
 * packets per round trip, if that spaces them by more than t_rho / 2, so that a burst is not mistaken for the
 * load of an interval. Zero: no pacing.
 */
static __always_inline u32 vcp_spacing(const struct vcp *vcp)
{
	u32 packets, spacing;
	int shift;

	if (vcp->window < 2 * FIXED_ONE || vcp->window > 64 * FIXED_ONE)
		return 0;
	packets = 2;
	for (shift = 0; shift < 5; shift++) {
		if ((fixed)packets << 32 < vcp->window)
			packets <<= 1;
	}
	spacing = vcp->smoothed_rtt / packets;
	return (u64)spacing * 2 > VCP_INTERVAL ? spacing : 0;
}
