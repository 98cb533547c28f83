/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The interface of airpath: the table of functions of airpath_controller.h. */
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "flow.h"

#ifndef AIRPATH_TITLE
#define AIRPATH_TITLE "controller"
#endif

/* The algorithms of the files, and their names with spaces between them. */
#define AIRPATH_DECLARE(name) extern picoquic_congestion_algorithm_t *name;
AIRPATH_DECLARE_ALGORITHMS
static picoquic_congestion_algorithm_t **const algorithms[] = { AIRPATH_ALGORITHMS };
#define ALGORITHMS (sizeof(algorithms) / sizeof(*algorithms))

#define LARGEST_WINDOW (1ull << 30)
#define LARGEST_RATE 1000000000000000ull

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Records a value if it has changed. */
static void show(struct flow *flow, uint32_t quantity, uint64_t *shown, uint64_t value)
{
	if (*shown == value)
		return;
	*shown = value;
	flow->host->record(flow->host->context, quantity, value);
}

static void answer(struct flow *flow, struct airpath_control *control)
{
	picoquic_path_t *path = &flow->path;
	uint64_t state = 0, parameter = 0, feedback = feedback_time(flow);

	control->window = clamp(path->cwin, 1, LARGEST_WINDOW);
	control->phase = path->is_ssthresh_initialized ? AIRPATH_PHASE_STEADY : AIRPATH_PHASE_SLOW_START;
	control->pacing = flow->is_paced ? AIRPATH_PACING_AT_RATE : AIRPATH_PACING_OFF;
	if (flow->is_paced) {
		control->pacing_rate = clamp(8 * path->pacing.rate, 1, LARGEST_RATE);
		control->quantum = clamp(flow->quantum, path->send_mtu, LARGEST_WINDOW);
	}
	/* It may be due. */
	control->next_timer =
		feedback == UINT64_MAX ? AIRPATH_NEVER : (clamp(feedback, flow->now + 1, UINT64_MAX) - 1000000) * 1000;
	if (flow->algorithm->alg_observe) {
		flow->algorithm->alg_observe(path, &state, &parameter);
		show(flow, 0, &flow->shown_state, state);
		show(flow, 1, &flow->shown_parameter, parameter);
	}
}

void before_step(struct flow *flow, uint64_t now)
{
	flow->now = microseconds(now);
}

void after_step(struct flow *flow, step *step, struct airpath_control *control)
{
	(void)step;
	answer(flow, control);
}

char *error_of(struct flow *flow)
{
	return flow->error;
}

static void destroy(void *instance)
{
	struct flow *flow = instance;

	/* A fault while the file frees its memory has no run to end. */
	if (flow->path.congestion_alg_state && !_setjmp(airpath_guard.back)) {
		airpath_guard.inside = 1;
		flow->algorithm->alg_delete(&flow->path);
	}
	airpath_guard.inside = 0;
	free(flow->departures);
	free(flow);
}

static void *create(const struct airpath_connection *connection, struct airpath_control *control)
{
	static _Thread_local char error[AIRPATH_LONGEST_ERROR];
	struct flow *flow = calloc(1, sizeof(*flow));
	picoquic_path_t *path;

	if (!flow) {
		control->error = "no memory";
		return NULL;
	}
	path = &flow->path;
	flow->algorithm = *algorithms[ALGORITHMS > 1 ? connection->values[0].integer : 0];
	flow->host = connection->host;
	flow->quic.use_predictable_random = 1;
	flow->cnx.quic = &flow->quic;
	flow->cnx.path[0] = path;
	flow->cnx.cnx_state = picoquic_state_ready;
	context_of(flow)->highest_acknowledged = UINT64_MAX;
	path->cnx = &flow->cnx;
	path->unique_path_id = connection->seed >> 1; /* the seed of BBR's random numbers */
	path->send_mtu = connection->mss;
	path->smoothed_rtt = PICOQUIC_INITIAL_RTT;
	path->cwin = PICOQUIC_CWIN_INITIAL;
	control->needs = AIRPATH_NEEDS_PACING | AIRPATH_NEEDS_RATE_SAMPLES | AIRPATH_NEEDS_WINDOW_IN_RECOVERY;
	if (flow->algorithm->ecn_mark == PICOQUIC_ECN_ECT_1)
		control->needs |= AIRPATH_NEEDS_ECN | AIRPATH_NEEDS_ACCURATE_ECN;
	if (!take_step(flow, on_start, 0, connection, control))
		return flow;
	memcpy(error, flow->error, sizeof(error));
	control->error = error;
	destroy(flow);
	return NULL;
}

static const struct airpath_parameter parameters[] = {
	{
		.size = sizeof(struct airpath_parameter),
		.kind = AIRPATH_CHOICE,
		.name = "algorithm",
		.help = "Which algorithm of the file runs",
		.choices = AIRPATH_NAMES,
	},
};

static const struct airpath_controller table = {
	.size = sizeof(table),
	.abi = AIRPATH_ABI,
	.title = AIRPATH_TITLE,
	.description = "a congestion control file of picoquic",
	.parameters = parameters,
	.parameter_count = ALGORITHMS > 1,
	.quantities = "state parameter",
	.create = create,
	.destroy = destroy,
	.on_ack = call_on_ack,
	.on_congestion = call_on_congestion,
	.on_sent = call_on_sent,
	.on_spurious = call_on_spurious,
	.on_timer = call_on_timer,
};

AIRPATH_EXPORT const struct airpath_controller *airpath_controller(uint32_t host_abi)
{
	return host_abi >> 16 == AIRPATH_ABI_MAJOR ? &table : NULL;
}
