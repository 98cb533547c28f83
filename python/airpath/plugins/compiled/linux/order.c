/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The order in which the kernel calls a module, from airpath's events.
 *
 * An acknowledgment:
 *   1. the fields of the connection are updated;
 *   2. pkts_acked, also for duplicates;
 *   3. in_ack_event (before pkts_acked in kernels up to 6.14);
 *   4. the state changes: ssthresh, set_state, cwnd_event;
 *   5. cong_control alone; or proportional rate reduction in CWR and Recovery; or cong_avoid, if data was acknowledged
 *      in order. The pacing rate follows from the window, except after cong_control.
 *
 * airpath reports a loss or mark before its acknowledgment, where the kernel has one event. The signal therefore waits
 * for on_ack at the same instant, where it belongs to step 4. A loss that a timer detects has no acknowledgment: the
 * timer of the instance, set to the same instant, or the next event, handles it.
 */
#include "flow.h"

/* The connection is established. The kernel knows the round-trip time of the handshake then. */
void start(struct flow *flow, u64 rtt_ns)
{
	struct airpath_rtt first = { rtt_ns, rtt_ns, rtt_ns / 2, rtt_ns };

	flow->started = true;
	take_rtt(flow, &first);
	flow->tp.lsndtime = tcp_jiffies32;
	flow->tp.delivered_mstamp = flow->tp.tcp_mstamp;
	if (!module_of(flow)->cong_control)
		update_pacing_rate(flow);
	if (module_of(flow)->init)
		module_of(flow)->init(socket_of(flow));
}

/* Handles a signal that no acknowledgment brought. */
static void handle_signal(struct flow *flow)
{
	if (!flow->has_signal)
		return;
	flow->has_signal = false;
	if (flow->signal.signal == AIRPATH_MARK) {
		tcp_enter_cwr(socket_of(flow));
		return;
	}
	enter_recovery(flow, false);
	if (!module_of(flow)->cong_control)
		reduce_proportionally(flow, 1, 0, false); /* lets the retransmission leave */
}

static void call_pkts_acked(struct flow *flow, u32 acked, const struct rate_sample *rate)
{
	if (!module_of(flow)->pkts_acked)
		return;
#if AIRPATH_PKTS_ACKED == 3
	module_of(flow)->pkts_acked(socket_of(flow), acked, rate->rtt_us);
#else
	struct ack_sample sample = { .pkts_acked = acked, .rtt_us = rate->rtt_us };

	if (rate->delivered > 0)
		sample.in_flight = flow->tp.mss_cache * rate->delivered;
	module_of(flow)->pkts_acked(socket_of(flow), &sample);
#endif
}

static void call_in_ack_event(struct flow *flow, const struct airpath_ack *ack)
{
	bool echo = ack->flags & AIRPATH_ACK_CONGESTION_EXPERIENCED;
	bool plain = ack->advance && !flow->tp.sacked_out && !echo;

	if (module_of(flow)->in_ack_event)
		module_of(flow)->in_ack_event(socket_of(flow), plain ? CA_ACK_WIN_UPDATE
								     : CA_ACK_SLOWPATH | (echo ? CA_ACK_ECE : 0));
}

static void call_cong_control(struct flow *flow, const struct rate_sample *rate)
{
#if AIRPATH_CONG_CONTROL == 2
	module_of(flow)->cong_control(socket_of(flow), rate);
#else
	module_of(flow)->cong_control(socket_of(flow), flow->tp.snd_una, 0, rate);
#endif
}

static void set_window(struct flow *flow, const struct airpath_ack *ack, const struct rate_sample *rate)
{
	if (module_of(flow)->cong_control) {
		call_cong_control(flow, rate);
		return;
	}
	if (tcp_in_cwnd_reduction(socket_of(flow)))
		reduce_proportionally(flow, rate->acked_sacked, rate->losses, ack->advance > 0);
	else if (ack->advance)
		module_of(flow)->cong_avoid(socket_of(flow), flow->tp.snd_una, rate->acked_sacked);
	update_pacing_rate(flow);
}

void on_ack(struct flow *flow, const void *event)
{
	const struct airpath_ack *ack = event;
	struct tcp_sock *tp = &flow->tp;
	struct rate_sample rate = { 0 };
	u32 delivered = tp->delivered, lost = tp->lost, una = packets(flow, flow->una);

	if (flow->has_signal && flow->signal.now != ack->now)
		handle_signal(flow);
	if (!flow->started && ack->flags & AIRPATH_ACK_RTT_SAMPLE)
		start(flow, ack->rtt_sample);
	take_ack(flow, ack);
	if (!flow->started)
		return;
	watch_limit(flow);
	take_rate(flow, ack, &rate);
	rate.acked_sacked = tp->delivered - delivered;
	rate.losses = tp->lost - lost;

	if (airpath_settings.in_ack_event_first)
		call_in_ack_event(flow, ack);
	call_pkts_acked(flow, packets(flow, flow->una) - una, &rate);
	if (!airpath_settings.in_ack_event_first)
		call_in_ack_event(flow, ack);
	follow_state(flow, ack);
	set_window(flow, ack, &rate);
	watch_limit(flow);
}

void on_congestion(struct flow *flow, const void *event)
{
	const struct airpath_congestion *congestion = event;

	if (!flow->started)
		start(flow, congestion->rtt.smoothed ? congestion->rtt.smoothed : NSEC_PER_SEC);
	if (congestion->signal == AIRPATH_TIMEOUT) {
		flow->has_signal = false;
		flow->lost_up_to = flow->una;
		report_lost(flow, congestion->lost);
		take_amounts(flow, 0);
		enter_loss(flow, max(congestion->consecutive, 1u));
	} else if (!flow->has_signal || flow->signal.signal == AIRPATH_MARK) {
		/* If an acknowledgment brings both, the loss counts. */
		flow->signal = *congestion;
		flow->has_signal = true;
	}
}

void on_timer(struct flow *flow, const void *nothing)
{
	(void)nothing;
	handle_signal(flow);
}

void on_spurious(struct flow *flow, const void *nothing)
{
	(void)nothing;
	handle_signal(flow);
	undo_reduction(flow);
}

void on_sent(struct flow *flow, const void *event)
{
	const struct airpath_sent *sent = event;
	struct tcp_sock *tp = &flow->tp;
	bool again = sent->flags & AIRPATH_SENT_RETRANSMISSION, idle = sent->in_flight == sent->payload;

	handle_signal(flow);
	if (flow->started && idle) {
		tp->airpath_in_flight = 0; /* modules are called before the packet counts */
		if (!again)
			restart_after_idle(flow);
		if (sent->flags & AIRPATH_SENT_APP_LIMITED && !tp->app_limited)
			tp->app_limited = max(tp->delivered, 1u);
		notify(flow, CA_EVENT_TX_START);
	}
	if (!again) {
		skip_lost(flow, sent->in_flight - sent->payload);
		note_departure(flow, sent);
		flow->next += sent->payload;
	}
	tp->bytes_sent += sent->payload;
	tp->segs_out++;
	tp->data_segs_out++;
	tp->total_retrans += again;
	take_amounts(flow, sent->in_flight);
	tp->lsndtime = tcp_jiffies32;
	if (tcp_in_cwnd_reduction(socket_of(flow)))
		tp->prr_out++;
}
