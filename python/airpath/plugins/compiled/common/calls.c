/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include <stdio.h>

#include "calls.h"
#include "fault.h"

int take_step(struct flow *flow, step *step, uint64_t now, const void *event, struct airpath_control *control)
{
	if (_setjmp(airpath_guard.back)) {
		airpath_guard.inside = 0;
		snprintf(error_of(flow), AIRPATH_LONGEST_ERROR, "%s", airpath_guard.text);
		control->error = error_of(flow);
		return 1;
	}
	airpath_guard.inside = 1;
	before_step(flow, now);
	step(flow, event);
	after_step(flow, step, control);
	airpath_guard.inside = 0;
	return 0;
}

int call_on_ack(void *instance, const struct airpath_ack *event, struct airpath_control *control)
{
	return take_step(instance, on_ack, event->now, event, control);
}

int call_on_congestion(void *instance, const struct airpath_congestion *event, struct airpath_control *control)
{
	return take_step(instance, on_congestion, event->now, event, control);
}

int call_on_sent(void *instance, const struct airpath_sent *event, struct airpath_control *control)
{
	return take_step(instance, on_sent, event->now, event, control);
}

int call_on_spurious(void *instance, uint64_t now, struct airpath_control *control)
{
	return take_step(instance, on_spurious, now, NULL, control);
}

int call_on_timer(void *instance, uint64_t now, struct airpath_control *control)
{
	return take_step(instance, on_timer, now, NULL, control);
}
