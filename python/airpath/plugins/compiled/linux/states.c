/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the kernel does around a module: the states of a connection, proportional rate reduction, undo, the window after
 * an idle time, and the pacing rate of modules that set none. Loss detection, timers and repair are the transport's.
 */
#include "flow.h"

void notify(struct flow *flow, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START && module_of(flow)->cwnd_event_tx_start)
		module_of(flow)->cwnd_event_tx_start(socket_of(flow));
	else if (module_of(flow)->cwnd_event)
		module_of(flow)->cwnd_event(socket_of(flow), event);
}

/* Modules are called before the state changes: some compare the two. */
static void set_state(struct flow *flow, u8 state)
{
	if (module_of(flow)->set_state)
		module_of(flow)->set_state(socket_of(flow), state);
	flow->tp.inet_conn.icsk_ca_state = state;
}

/* ---- Reductions ------------------------------------------------------------------------------------------- */

static void begin_reduction(struct flow *flow)
{
	struct tcp_sock *tp = &flow->tp;

	tp->high_seq = tp->snd_nxt;
	tp->snd_cwnd_cnt = 0;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->prr_delivered = tp->prr_out = 0;
	tp->snd_ssthresh = module_of(flow)->ssthresh(socket_of(flow));
}

/* Proportional rate reduction (RFC 6937), with the bound of slow start while the repair advances without new losses. */
void reduce_proportionally(struct flow *flow, u32 newly_delivered, u32 newly_lost, bool advanced)
{
	struct tcp_sock *tp = &flow->tp;
	s32 room = tp->snd_ssthresh - tp->airpath_in_flight, send;

	if (!newly_delivered || !tp->prior_cwnd)
		return;
	tp->prr_delivered += newly_delivered;
	if (room < 0) {
		send = DIV_ROUND_UP((u64)tp->snd_ssthresh * tp->prr_delivered, tp->prior_cwnd) - tp->prr_out;
	} else {
		send = max_t(s32, tp->prr_delivered - tp->prr_out, newly_delivered);
		send += advanced && !newly_lost;
		send = min(send, room);
	}
	send = max(send, tp->prr_out ? 0 : 1); /* the first retransmission leaves at once */
	tcp_snd_cwnd_set(tp, max_t(u32, tp->airpath_in_flight + send, 1));
}

static void end_reduction(struct flow *flow)
{
	struct tcp_sock *tp = &flow->tp;

	if (module_of(flow)->cong_control)
		return; /* such a module sets the window itself, in recovery, too */
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH &&
	    (tp->inet_conn.icsk_ca_state == TCP_CA_CWR || tp->undo_marker))
		tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
	notify(flow, CA_EVENT_COMPLETE_CWR);
}

void undo_reduction(struct flow *flow)
{
	struct tcp_sock *tp = &flow->tp;

	if (tp->prior_ssthresh) {
		tcp_snd_cwnd_set(tp, module_of(flow)->undo_cwnd(socket_of(flow)));
		tp->snd_ssthresh = max(tp->snd_ssthresh, tp->prior_ssthresh);
	}
	tp->undo_marker = 0;
	set_state(flow, TCP_CA_Open);
}

/* ---- States ----------------------------------------------------------------------------------------------- */

void tcp_enter_cwr(struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = &flow->tp;

	tp->prior_ssthresh = 0;
	if (tp->inet_conn.icsk_ca_state < TCP_CA_CWR) {
		tp->undo_marker = 0;
		begin_reduction(flow);
		set_state(flow, TCP_CA_CWR);
	}
}

void enter_recovery(struct flow *flow, bool marked)
{
	struct tcp_sock *tp = &flow->tp;

	tp->prior_ssthresh = 0;
	tp->undo_marker = tp->snd_una ? tp->snd_una : 1;
	if (!tcp_in_cwnd_reduction(socket_of(flow))) {
		if (!marked)
			tp->prior_ssthresh = tcp_current_ssthresh(socket_of(flow));
		begin_reduction(flow);
	}
	set_state(flow, TCP_CA_Recovery);
}

/* The retransmission timer has expired `consecutive` times. */
void enter_loss(struct flow *flow, u32 consecutive)
{
	struct tcp_sock *tp = &flow->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	tp->inet_conn.icsk_retransmits = min(consecutive - 1, 255u);
	/* Not twice for one window of data. */
	if (state <= TCP_CA_Disorder || !after(tp->high_seq, tp->snd_una) ||
	    (state == TCP_CA_Loss && consecutive == 1)) {
		tp->prior_ssthresh = tcp_current_ssthresh(socket_of(flow));
		tp->prior_cwnd = tp->snd_cwnd;
		tp->snd_ssthresh = module_of(flow)->ssthresh(socket_of(flow));
		notify(flow, CA_EVENT_LOSS);
		tp->undo_marker = tp->snd_una ? tp->snd_una : 1;
	}
	tcp_snd_cwnd_set(tp, tp->airpath_in_flight + 1);
	tp->snd_cwnd_cnt = 0;
	set_state(flow, TCP_CA_Loss);
	tp->high_seq = tp->snd_nxt;
}

/* Leaves a state whose end the acknowledgment brings. */
static void leave_state(struct flow *flow, bool repairing)
{
	struct tcp_sock *tp = &flow->tp;
	u8 state = tp->inet_conn.icsk_ca_state;

	/* CWR ends beyond high_seq, and the others when they reach it. */
	if (state == TCP_CA_CWR && after(tp->snd_una, tp->high_seq)) {
		end_reduction(flow);
		set_state(flow, TCP_CA_Open);
	} else if (state == TCP_CA_Recovery && !repairing) {
		end_reduction(flow);
		tp->undo_marker = 0;
		set_state(flow, TCP_CA_Open);
	} else if (state == TCP_CA_Loss && !before(tp->snd_una, tp->high_seq)) {
		tp->undo_marker = 0;
		set_state(flow, TCP_CA_Open);
	}
}

void follow_state(struct flow *flow, const struct airpath_ack *ack)
{
	struct tcp_sock *tp = &flow->tp;
	bool repairing = ack->flags & AIRPATH_ACK_IN_RECOVERY, marked = ack->flags & AIRPATH_ACK_CONGESTION_EXPERIENCED;
	bool lost = flow->has_signal && flow->signal.signal == AIRPATH_LOSS;
	bool echoed = flow->has_signal && flow->signal.signal == AIRPATH_MARK;

	flow->has_signal = false;
	if (marked)
		tp->prior_ssthresh = 0;
	leave_state(flow, repairing);
	if (lost || (repairing && tp->inet_conn.icsk_ca_state == TCP_CA_CWR)) {
		enter_recovery(flow, marked);
	} else if (echoed) {
		tcp_enter_cwr(socket_of(flow));
	} else if (tp->inet_conn.icsk_ca_state <= TCP_CA_Disorder) {
		u8 wanted = tp->sacked_out || tp->lost_out ? TCP_CA_Disorder : TCP_CA_Open;

		if (wanted != tp->inet_conn.icsk_ca_state) {
			set_state(flow, wanted);
			tp->high_seq = tp->snd_nxt;
		}
	}
}

/* ---- Pacing and idle times -------------------------------------------------------------------------------- */

/* A window for each smoothed round-trip time, times 2 in slow start and 1.2 later. */
void update_pacing_rate(struct flow *flow)
{
	struct sock *sk = socket_of(flow);
	struct tcp_sock *tp = &flow->tp;
	bool doubling = tp->snd_cwnd < tp->snd_ssthresh / 2;
	u64 percent = doubling ? flow->net.ipv4.sysctl_tcp_pacing_ss_ratio : flow->net.ipv4.sysctl_tcp_pacing_ca_ratio;
	u64 rate = (u64)tp->mss_cache * (8 * USEC_PER_SEC / 100) * percent * max(tp->snd_cwnd, tp->packets_out);

	if (tp->srtt_us)
		rate /= tp->srtt_us;
	sk->sk_pacing_rate = min_t(u64, rate, sk->sk_max_pacing_rate);
}

/* Halves the window for each retransmission timeout without a packet, down to the initial window. */
void restart_after_idle(struct flow *flow)
{
	struct tcp_sock *tp = &flow->tp;
	s32 idle = tcp_jiffies32 - tp->lsndtime, rto = tp->inet_conn.icsk_rto;
	u32 floor = min(flow->initial_window, tp->snd_cwnd), window = tp->snd_cwnd;

	if (!airpath_settings.slow_start_after_idle || module_of(flow)->cong_control || idle <= rto || rto <= 0)
		return;
	notify(flow, CA_EVENT_CWND_RESTART);
	tp->snd_ssthresh = tcp_current_ssthresh(socket_of(flow));
	while ((idle -= rto) > 0 && window > floor)
		window /= 2;
	tcp_snd_cwnd_set(tp, max(window, floor));
}
