/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * XCP's sender in the rate form (draft-falk-xcp-spec-03, section 3.2): on each acknowledgment of new data the
 * window becomes max(window + feedback SRTT, one segment); a loss halves it, a timeout leaves one segment.
 * Follows crates/control/src/xcp.rs.
 */
#pragma once

#include "event.h"

/* Fractional bits of a window in bytes. */
#define XCP_POINT 24
#define XCP_LARGEST (WINDOW_LARGEST << XCP_POINT)
/*
 * The request of a sender, which returns unchanged if no router runs XCP. Values of at least half of it are
 * not feedback.
 */
#define XCP_DEMAND 0x7fffffff
#define XCP_ABSURD (1 << 30)

struct xcp {
	/* Bytes, with XCP_POINT fractional bits. */
	u64 window;
	/* The window before the last signal, to undo that signal if it proves spurious; zero: none. */
	u64 before_signal;
};

static __always_inline void xcp_start(struct xcp *xcp, u32 window)
{
	xcp->window = minimum((u64)window << XCP_POINT, XCP_LARGEST);
	xcp->before_signal = 0;
}

/* Whether this acknowledgment carries feedback of routers. */
static __always_inline bool xcp_told(const struct ack_event *ack)
{
	return ack->feedback == FEEDBACK_CHANGE && ack->change < XCP_ABSURD && ack->change > -XCP_ABSURD;
}

static __always_inline void xcp_on_ack(struct xcp *xcp, const struct ack_event *ack)
{
	u64 segment = (u64)ack->mss << XCP_POINT;
	bool lower = ack->change < 0;
	u64 bytes, change;

	if (!xcp_told(ack) || !ack->acked)
		return;
	if (ack->change > 0 && !ack->window_limited)
		return;
	/* byte/s times microseconds: at most 2^30 * 2^32. */
	bytes = (u64)(lower ? -(s64)ack->change : ack->change) * ack->rtt.smoothed;
	change = (bytes / MICROSECONDS << XCP_POINT) + (bytes % MICROSECONDS << XCP_POINT) / MICROSECONDS;
	change = minimum(change, XCP_LARGEST);
	xcp->window = lower ? difference(xcp->window, change) : minimum(xcp->window + change, XCP_LARGEST);
	xcp->window = maximum(xcp->window, segment);
}

static __always_inline void xcp_on_congestion(struct xcp *xcp, const struct congestion_event *event)
{
	u64 segment = (u64)event->mss << XCP_POINT;
	bool timeout = event->signal == SIGNAL_TIMEOUT;

	if (!(timeout && event->consecutive > 1))
		xcp->before_signal = xcp->window;
	xcp->window = timeout ? segment : maximum(xcp->window / 2, segment);
}

static __always_inline void xcp_on_spurious(struct xcp *xcp)
{
	xcp->window = maximum(xcp->window, xcp->before_signal);
	xcp->before_signal = 0;
}

static __always_inline u64 xcp_window(const struct xcp *xcp)
{
	return xcp->window >> XCP_POINT;
}
