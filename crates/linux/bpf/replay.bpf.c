/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* For tests: the controllers in the kernel, one event per call of bpf_prog_test_run. */
#include <linux/bpf.h>

#include "control/controller.h"

enum call {
	CALL_START = 0,
	CALL_ACK = 1,
	CALL_CONGESTION = 2,
	CALL_SPURIOUS = 3,
};

struct replay {
	u32 call;
	u32 unused;
	/* The window in bytes: the initial one at CALL_START, otherwise the result. */
	u64 window;
	struct ack_event ack;
	struct congestion_event congestion;
};

/* The state of the controller under test. */
struct state state;

static __always_inline void replay(struct replay *replay, const int controller)
{
	switch (replay->call) {
	case CALL_START:
		controller_start(&state, controller, replay->window, replay->ack.mss);
		break;
	case CALL_ACK:
		controller_on_ack(&state, controller, &replay->ack);
		break;
	case CALL_CONGESTION:
		controller_on_congestion(&state, controller, &replay->congestion);
		break;
	default:
		controller_on_spurious(&state, controller);
	}
	replay->window = controller_window(&state, controller);
}

#define REPLAY(NAME, KIND)                                                                                             \
	SEC("syscall")                                                                                                 \
	int replay_##NAME(struct replay *context)                                                                      \
	{                                                                                                              \
		replay(context, KIND);                                                                                 \
		return 0;                                                                                              \
	}

REPLAY(xcp, CONTROLLER_XCP)
REPLAY(vcp, CONTROLLER_VCP)
REPLAY(ebe, CONTROLLER_CUBIC_EBE)
REPLAY(westwood, CONTROLLER_WESTWOOD)
REPLAY(sarbe, CONTROLLER_SARBE)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
