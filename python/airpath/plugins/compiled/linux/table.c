/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The interface of airpath: the table of functions of airpath_controller.h. */
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "flow.h"

#ifndef AIRPATH_TITLE
#define AIRPATH_TITLE "module"
#endif
#ifndef AIRPATH_READS_TIMESTAMPS
#define AIRPATH_READS_TIMESTAMPS 0
#endif

/* ---- Functions of a copy ---------------------------------------------------------------------------------- */

void before_step(struct flow *flow, uint64_t now)
{
	set_clocks(flow, now);
}

void after_step(struct flow *flow, step *step, struct airpath_control *control)
{
	answer(flow, control);
	if (step != on_sent) /* it changes nothing that modules report */
		show(flow);
}

char *error_of(struct flow *flow)
{
	return flow->error;
}

static void begin(struct flow *flow, const void *event)
{
	const struct airpath_connection *connection = event;

	if (connection->handshake_rtt)
		start(flow, connection->handshake_rtt);
}

static void set_up(struct flow *flow, const struct airpath_connection *connection)
{
	struct tcp_sock *tp = &flow->tp;
	struct sock *sk = socket_of(flow);

	flow->host = connection->host;
	flow->random = connection->seed;
	flow->mss = connection->mss;
	flow->initial_window = max_t(u32, connection->initial_window / connection->mss, 1);
	flow->net.ipv4.sysctl_tcp_reordering = 3;
	flow->net.ipv4.sysctl_tcp_slow_start_after_idle = airpath_settings.slow_start_after_idle;
	flow->net.ipv4.sysctl_tcp_pacing_ss_ratio = 200;
	flow->net.ipv4.sysctl_tcp_pacing_ca_ratio = 120;
	flow->net.ipv4.sysctl_tcp_min_tso_segs = 2;
	/* That of the last source: the sources before it contain what it calls. */
	tp->inet_conn.icsk_ca_ops = airpath_module.types[airpath_module.type_count - 1];
	sk->sk_net = &flow->net;
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_pacing_status = airpath_settings.pacing ? SK_PACING_FQ : SK_PACING_NONE;
	sk->sk_pacing_rate = sk->sk_max_pacing_rate = ~0ul;
	sk->sk_pacing_shift = 10;
	sk->sk_gso_max_size = airpath_settings.gso_max_size;
	sk->sk_gso_max_segs = 65535;
	tp->mss_cache = tp->advmss = connection->mss;
	tp->snd_cwnd = flow->initial_window;
	tp->snd_cwnd_clamp = ~0u;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	tp->reordering = 3;
	tp->rx_opt.sack_ok = tp->rx_opt.tstamp_ok = tp->rx_opt.saw_tstamp = 1;
	tp->rtt_min.s[0].v = ~0u;
	tp->snd_wnd = ~0u / 2;
	if (module_of(flow)->flags & TCP_CONG_NEEDS_ECN)
		tp->ecn_flags = TCP_ECN_OK;
	take_amounts(flow, 0);
}

static u32 needs(struct flow *flow)
{
	u32 needed = AIRPATH_NEEDS_WINDOW_IN_RECOVERY;

	if (AIRPATH_READS_TIMESTAMPS)
		needed |= AIRPATH_NEEDS_RECEIVER_TIME;
	if (module_of(flow)->cong_control)
		needed |= AIRPATH_NEEDS_PACING | AIRPATH_NEEDS_RATE_SAMPLES;
	if (airpath_settings.pacing)
		needed |= AIRPATH_NEEDS_PACING;
	if (module_of(flow)->flags & TCP_CONG_NEEDS_ECN)
		needed |= AIRPATH_NEEDS_ECN | AIRPATH_NEEDS_ACCURATE_ECN;
	return needed;
}

static void *copy_create(const struct airpath_connection *connection, struct airpath_control *control)
{
	static _Thread_local char error[AIRPATH_LONGEST_ERROR];
	struct flow *flow = calloc(1, sizeof(*flow));

	if (!flow) {
		control->error = "no memory";
		return NULL;
	}
	set_up(flow, connection);
	control->needs = needs(flow);
	if (!take_step(flow, begin, 0, connection, control))
		return flow;
	memcpy(error, flow->error, sizeof(error));
	control->error = error;
	free(flow);
	return NULL;
}

static void release(struct flow *flow, const void *nothing)
{
	(void)nothing;
	module_of(flow)->release(socket_of(flow));
}

static void copy_destroy(void *instance)
{
	struct flow *flow = instance;

	/* A fault while the module frees its memory has no run to end. */
	if (flow->started && module_of(flow)->release && !_setjmp(airpath_guard.back)) {
		airpath_guard.inside = 1;
		release(flow, NULL);
	}
	airpath_guard.inside = 0;
	free(flow->departures);
	free(flow);
}

const struct airpath_controller airpath_functions = {
	.create = copy_create,
	.destroy = copy_destroy,
	.on_ack = call_on_ack,
	.on_congestion = call_on_congestion,
	.on_sent = call_on_sent,
	.on_spurious = call_on_spurious,
	.on_timer = call_on_timer,
};

/* ---- The table: each function calls that of the copy with the parameters of the instance ------------------- */

static struct airpath_parameter parameters[AIRPATH_MOST_PARAMETERS];
static struct airpath_controller table;

static void *create(const struct airpath_connection *connection, struct airpath_control *control)
{
	const struct airpath_controller *functions =
		copy_for(connection->values, table.parameter_count, &control->error);
	struct flow *flow = functions ? functions->create(connection, control) : NULL;

	if (flow)
		flow->functions = functions;
	return flow;
}
#define FUNCTIONS(instance) (((struct flow *)(instance))->functions)
static void destroy(void *instance) { FUNCTIONS(instance)->destroy(instance); }
static int forward_ack(void *instance, const struct airpath_ack *event, struct airpath_control *control)
{
	return FUNCTIONS(instance)->on_ack(instance, event, control);
}
static int forward_congestion(void *instance, const struct airpath_congestion *event, struct airpath_control *control)
{
	return FUNCTIONS(instance)->on_congestion(instance, event, control);
}
static int forward_sent(void *instance, const struct airpath_sent *event, struct airpath_control *control)
{
	return FUNCTIONS(instance)->on_sent(instance, event, control);
}
static int forward_spurious(void *instance, uint64_t now, struct airpath_control *control)
{
	return FUNCTIONS(instance)->on_spurious(instance, now, control);
}
static int forward_timer(void *instance, uint64_t now, struct airpath_control *control)
{
	return FUNCTIONS(instance)->on_timer(instance, now, control);
}

static struct airpath_controller table = {
	.size = sizeof(table),
	.abi = AIRPATH_ABI,
	.title = AIRPATH_TITLE,
	.description = "a congestion control module of Linux",
	.parameters = parameters,
	.quantities = "ca_state module_rtt_us module_min_rtt_us module_pacing_gain module_window_gain module_alpha",
	.create = create,
	.destroy = destroy,
	.on_ack = forward_ack,
	.on_congestion = forward_congestion,
	.on_sent = forward_sent,
	.on_spurious = forward_spurious,
	.on_timer = forward_timer,
};

AIRPATH_EXPORT const struct airpath_controller *airpath_controller(uint32_t host_abi)
{
	if (host_abi >> 16 != AIRPATH_ABI_MAJOR)
		return NULL;
	if (!table.parameter_count)
		table.parameter_count = airpath_declare_parameters(parameters);
	return &table;
}
