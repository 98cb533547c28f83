/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Events of airpath, passed to a connection of a program. A fault of the user's file becomes an error. */
#ifndef AIRPATH_CALLS_H
#define AIRPATH_CALLS_H

#include "airpath_controller.h"

#define AIRPATH_LONGEST_ERROR 320

struct flow;
typedef void step(struct flow *flow, const void *event);

/* Passes an event to a connection. Returns 1 after a fault. */
int take_step(struct flow *flow, step *step, uint64_t now, const void *event, struct airpath_control *control);

/* Functions of the table. */
int call_on_ack(void *instance, const struct airpath_ack *event, struct airpath_control *control);
int call_on_congestion(void *instance, const struct airpath_congestion *event, struct airpath_control *control);
int call_on_sent(void *instance, const struct airpath_sent *event, struct airpath_control *control);
int call_on_spurious(void *instance, uint64_t now, struct airpath_control *control);
int call_on_timer(void *instance, uint64_t now, struct airpath_control *control);

/* The program has these: what each event is for it, what comes before and after, and where a text of AIRPATH_LONGEST_ERROR
 * bytes is kept. */
step on_ack, on_congestion, on_sent, on_spurious, on_timer;
void before_step(struct flow *flow, uint64_t now);
void after_step(struct flow *flow, step *step, struct airpath_control *control);
char *error_of(struct flow *flow);

#endif
