/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The controllers of the BPF programs in an ordinary process, for src/native.rs. */
#include "controller.h"

_Static_assert(sizeof(struct ack_event) == 56, "src/native.rs lays out AckEvent");
_Static_assert(sizeof(struct congestion_event) == 40, "src/native.rs lays out CongestionEvent");

u64 airpath_state_size(void)
{
	return sizeof(struct state);
}

/* Calls with the controller as a constant, as in the BPF programs. */
#define EACH(controller, call)                                                                                         \
	switch (controller) {                                                                                          \
	case CONTROLLER_XCP:                                                                                           \
		call(CONTROLLER_XCP);                                                                                  \
		break;                                                                                                 \
	case CONTROLLER_VCP:                                                                                           \
		call(CONTROLLER_VCP);                                                                                  \
		break;                                                                                                 \
	case CONTROLLER_CUBIC_EBE:                                                                                     \
		call(CONTROLLER_CUBIC_EBE);                                                                            \
		break;                                                                                                 \
	case CONTROLLER_WESTWOOD:                                                                                      \
		call(CONTROLLER_WESTWOOD);                                                                             \
		break;                                                                                                 \
	default:                                                                                                       \
		call(CONTROLLER_SARBE);                                                                                \
	}

void airpath_start(struct state *state, s32 controller, u32 window, u32 mss)
{
#define START(which) controller_start(state, which, window, mss)
	EACH(controller, START)
}

void airpath_on_ack(struct state *state, s32 controller, const struct ack_event *event)
{
#define ON_ACK(which) controller_on_ack(state, which, event)
	EACH(controller, ON_ACK)
}

void airpath_on_congestion(struct state *state, s32 controller, const struct congestion_event *event)
{
#define ON_CONGESTION(which) controller_on_congestion(state, which, event)
	EACH(controller, ON_CONGESTION)
}

void airpath_on_spurious(struct state *state, s32 controller)
{
#define ON_SPURIOUS(which) controller_on_spurious(state, which)
	EACH(controller, ON_SPURIOUS)
}

u64 airpath_window(const struct state *state, s32 controller)
{
	return controller_window(state, controller);
}

u32 airpath_spacing(const struct state *state)
{
	return vcp_spacing(&state->vcp);
}

/* EBE's filter without a controller. */

u64 airpath_filter_size(void)
{
	return sizeof(struct ebe_filter);
}

static scaled of_double(double value)
{
	double magnitude = value < 0 ? -value : value;
	s32 exponent = 0;

	if (magnitude == 0)
		return 0;
	while (magnitude < 4503599627370496.0) {
		magnitude *= 2;
		exponent--;
	}
	while (magnitude >= 9007199254740992.0) {
		magnitude /= 2;
		exponent++;
	}
	return scaled_make((u64)magnitude, exponent, value < 0 ? SCALED_NEGATIVE : 0);
}

static double to_double(scaled value)
{
	double result = (double)scaled_digits(value);
	s32 exponent = scaled_exponent(value);

	for (; result != 0 && exponent > 0; exponent--)
		result *= 2;
	for (; result != 0 && exponent < 0; exponent++)
		result /= 2;
	return scaled_below_zero(value) ? -result : result;
}

void airpath_filter_start(struct ebe_filter *filter, u64 profile)
{
	*filter = (struct ebe_filter){ .since_correction = ~0ULL, .profile = profile };
}

void airpath_filter_register(struct ebe_filter *filter, double w_max, double rtt_max)
{
	ebe_register(filter, of_double(w_max), of_double(rtt_max));
}

/* The state after a step: x1, x2, P11, P12, P22. A negative measurement is the filter's own last output. */
void airpath_filter_step(struct ebe_filter *filter, double measured, double window, double rtt, double result[5])
{
	ebe_step(filter, measured < 0 ? filter->ceiling : of_double(measured), of_double(window), of_double(rtt), EBE_INTERVAL);
	result[0] = to_double(filter->ceiling);
	result[1] = to_double(filter->rtt);
	result[2] = to_double(filter->p11);
	result[3] = to_double(filter->p12);
	result[4] = to_double(filter->p22);
}

double airpath_cube_root(double value)
{
	return (double)fixed_cube_root((u64)(value * 4294967296.0)) / 4294967296.0;
}
