/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Whole controllers. Those that follow routers fall back to Reno if routers send no feedback for two windows
 * of data, until the next feedback. A full path that reports low load counts as one without feedback, until
 * the next code above low.
 */
#pragma once

#include "saturation.h"
#include "vcp.h"
#include "windowed.h"
#include "xcp.h"

enum controller {
	CONTROLLER_XCP = 1,
	CONTROLLER_VCP = 2,
	CONTROLLER_CUBIC_EBE = 3,
	CONTROLLER_WESTWOOD = 4,
	CONTROLLER_SARBE = 5,
};

/* The state of the fallback to Reno. */
struct standard {
	/* Bytes acknowledged since the last feedback of routers. */
	u64 silent;
	bool active;
	/* Routers have sent feedback at least once: from then on there is a threshold. */
	bool told_once;
	/* VCP: the path was found full while it reported low load. */
	bool low_is_nothing;
	u8 unused[5];
	struct saturation saturation;
};

struct state {
	/* For controllers that follow routers: Reno's state, without feedback. */
	struct windowed now;
	/* The state before the last signal, to undo that signal if it proves spurious. */
	struct windowed before_signal;
	bool has_before;
	union {
		struct xcp xcp;
		struct vcp vcp;
	};
	struct standard standard;
};

/* Segments in excess of two windows without feedback until the absence is not considered accidental. */
#define SILENT_SEGMENTS 10

static __always_inline int rule_of(const int controller)
{
	return controller == CONTROLLER_CUBIC_EBE ? RULE_CUBIC_EBE :
	       controller == CONTROLLER_WESTWOOD  ? RULE_WESTWOOD :
	       controller == CONTROLLER_SARBE	  ? RULE_SARBE :
						    RULE_RENO;
}

static __always_inline bool follows_routers(const int controller)
{
	return controller == CONTROLLER_XCP || controller == CONTROLLER_VCP;
}

static __always_inline u64 routers_window(const struct state *state, const int controller)
{
	return controller == CONTROLLER_XCP ? xcp_window(&state->xcp) : vcp_window(&state->vcp);
}

/* Whether slow start and a rule above it determine the window, not routers. */
static __always_inline bool is_windowed(const struct state *state, const int controller)
{
	return !follows_routers(controller) || state->standard.active;
}

/* Returns the congestion window in bytes of payload. */
static __always_inline u64 controller_window(const struct state *state, const int controller)
{
	return is_windowed(state, controller) ? state->now.window : routers_window(state, controller);
}

static __always_inline void controller_start(struct state *state, const int controller, u32 window, u32 mss)
{
	state->has_before = false;
	state->standard = (struct standard){ 0 };
	if (controller == CONTROLLER_XCP)
		xcp_start(&state->xcp, window);
	else if (controller == CONTROLLER_VCP)
		vcp_start(&state->vcp, window, mss);
	else
		windowed_start(&state->now, rule_of(controller), window);
}

static __always_inline void standard_begin(struct state *state, const int controller)
{
	state->standard.active = true;
	state->has_before = false;
	windowed_start(&state->now, RULE_RENO, routers_window(state, controller));
	/*
	 * A connection that never received feedback probes as any new connection does; after feedback its
	 * window was right.
	 */
	if (state->standard.told_once)
		state->now.ssthresh = state->now.window;
}

/* Whether the acknowledgment carries feedback that only a router can have written. */
static __always_inline bool told(struct standard *standard, const int controller, const struct ack_event *ack)
{
	if (controller == CONTROLLER_XCP)
		return xcp_told(ack);
	if (!vcp_told(ack))
		return false;
	if (ack->load == LOAD_LOW)
		return !standard->low_is_nothing;
	standard->low_is_nothing = false;
	standard->saturation = (struct saturation){ 0 };
	return true;
}

/* Whether Reno processes the acknowledgment, because routers have sent no feedback for long. */
static __always_inline bool standard_takes(struct state *state, const int controller, const struct ack_event *ack)
{
	struct standard *standard = &state->standard;

	if (told(standard, controller, ack)) {
		if (standard->active) {
			/* Routers continue from Reno's window. */
			u32 window = minimum(state->now.window, WINDOW_LARGEST);

			if (controller == CONTROLLER_XCP)
				xcp_start(&state->xcp, window);
			else
				vcp_start(&state->vcp, window, ack->mss);
		}
		standard->active = false;
		standard->told_once = true;
		standard->silent = 0;
		return false;
	}
	standard->silent += ack->acked;
	if (standard->active)
		return true;
	if (standard->silent <= 2 * routers_window(state, controller) + SILENT_SEGMENTS * ack->mss)
		return false;
	standard_begin(state, controller);
	return true;
}

static __always_inline void controller_on_ack(struct state *state, const int controller, const struct ack_event *ack)
{
	if (!ack->mss)
		return;
	if (!follows_routers(controller) || standard_takes(state, controller, ack))
		windowed_on_ack(&state->now, rule_of(controller), ack);
	else if (controller == CONTROLLER_XCP)
		xcp_on_ack(&state->xcp, ack);
	else
		vcp_on_ack(&state->vcp, ack);
	if (controller == CONTROLLER_VCP && !state->standard.active)
		saturation_on_ack(&state->standard.saturation, ack, vcp_window(&state->vcp));
}

/*
 * Whether VCP attributes a loss to a channel error although the path is full, so that its low load is not a
 * router's feedback.
 */
static __always_inline bool saturated(struct state *state, const struct congestion_event *event)
{
	bool repeated = event->signal == SIGNAL_TIMEOUT && event->consecutive > 1;

	if (event->signal == SIGNAL_MARK || repeated || !vcp_dismisses(&state->vcp))
		return false;
	return saturation_on_loss(&state->standard.saturation, vcp_window(&state->vcp));
}

/* Switches to Reno if a signal shows that routers send no feedback. */
static __always_inline void standard_considers(struct state *state, const int controller,
					    const struct congestion_event *event)
{
	struct standard *standard = &state->standard;

	if (standard->active)
		return;
	/* Without any router, a loss is the only signal. */
	if (!standard->told_once)
		standard_begin(state, controller);
	if (controller == CONTROLLER_VCP && !standard->active && saturated(state, event)) {
		standard->low_is_nothing = true;
		standard_begin(state, controller);
	}
}

static __always_inline void controller_on_congestion(struct state *state, const int controller,
						     const struct congestion_event *event)
{
	bool repeated = event->signal == SIGNAL_TIMEOUT && event->consecutive > 1;

	if (!event->mss)
		return;
	if (follows_routers(controller))
		standard_considers(state, controller, event);
	if (is_windowed(state, controller)) {
		if (!repeated) {
			state->before_signal = state->now;
			state->has_before = true;
		}
		windowed_on_congestion(&state->now, rule_of(controller), event);
	} else if (controller == CONTROLLER_XCP) {
		xcp_on_congestion(&state->xcp, event);
	} else {
		vcp_on_congestion(&state->vcp, event);
	}
}

static __always_inline void controller_on_spurious(struct state *state, const int controller)
{
	if (is_windowed(state, controller)) {
		if (!state->has_before)
			return;
		state->has_before = false;
		state->now.repairing = false;
		/* A recovery that the signal interrupted is restored with the other state. */
		if (state->now.window <= state->before_signal.window)
			state->now = state->before_signal;
	} else if (controller == CONTROLLER_XCP) {
		xcp_on_spurious(&state->xcp);
	} else {
		vcp_on_spurious(&state->vcp);
	}
}
