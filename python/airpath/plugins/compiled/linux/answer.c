/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a connection allows, and what it records. */
#include <string.h>

#include "flow.h"

/* The largest rate that airpath accepts, bytes per second. */
#define LARGEST_RATE (1000000000000000ull / 8)

void answer(struct flow *flow, struct airpath_control *control)
{
	struct sock *sk = socket_of(flow);
	struct tcp_sock *tp = &flow->tp;
	u32 least = flow->net.ipv4.sysctl_tcp_min_tso_segs;

	control->window = (u64)tp->snd_cwnd * flow->mss;
	control->ssthresh = tcp_in_initial_slowstart(tp) ? AIRPATH_NEVER : (u64)tp->snd_ssthresh * flow->mss;
	control->phase = tcp_in_slow_start(tp) ? AIRPATH_PHASE_SLOW_START : AIRPATH_PHASE_CONGESTION_AVOIDANCE;
	if (module_of(flow)->cong_control)
		control->phase = AIRPATH_PHASE_STEADY;
	control->pacing = AIRPATH_PACING_FROM_WINDOW;
	if (flow->started && sk->sk_pacing_status != SK_PACING_NONE) {
		control->pacing = AIRPATH_PACING_AT_RATE;
		control->pacing_rate = 8 * clamp((u64)sk->sk_pacing_rate, 1ull, LARGEST_RATE);
	}
	if (module_of(flow)->min_tso_segs)
		least = module_of(flow)->min_tso_segs(sk);
	if (module_of(flow)->tso_segs)
		control->quantum = (u64)max(module_of(flow)->tso_segs(sk, flow->mss), 1u) * flow->mss;
	else
		control->quantum = (u64)max(tcp_tso_autosize(sk, flow->mss, least), 1u) * flow->mss;
	/* A signal waits for its acknowledgment, which may not come. */
	control->next_timer = flow->has_signal ? flow->signal.now : AIRPATH_NEVER;
}

/* Records a value if it has changed. */
static void record(struct flow *flow, u32 quantity, double value)
{
	if (flow->shown[quantity] == value)
		return;
	flow->shown[quantity] = value;
	flow->host->record(flow->host->context, quantity, value);
}

/* Records what `ss -i` shows. */
void show(struct flow *flow)
{
	union tcp_cc_info info = { 0 };
	int kind = 0;

	record(flow, SHOWN_STATE, flow->tp.inet_conn.icsk_ca_state);
	if (!flow->started || !module_of(flow)->get_info)
		return;
	module_of(flow)->get_info(socket_of(flow), ~0u, &kind, &info);
	if (kind == INET_DIAG_VEGASINFO) {
		record(flow, SHOWN_RTT, info.vegas.tcpv_rtt);
		record(flow, SHOWN_MIN_RTT, info.vegas.tcpv_minrtt);
	} else if (kind == INET_DIAG_BBRINFO) {
		u64 rate = (u64)info.bbr.bbr_bw_hi << 32 | info.bbr.bbr_bw_lo;

		flow->host->record(flow->host->context, AIRPATH_BANDWIDTH, 8.0 * rate);
		record(flow, SHOWN_MIN_RTT, info.bbr.bbr_min_rtt);
		record(flow, SHOWN_PACING_GAIN, info.bbr.bbr_pacing_gain / 256.0);
		record(flow, SHOWN_WINDOW_GAIN, info.bbr.bbr_cwnd_gain / 256.0);
	} else if (kind == INET_DIAG_DCTCPINFO) {
		record(flow, SHOWN_ALPHA, info.dctcp.dctcp_alpha / 1024.0);
	}
}
