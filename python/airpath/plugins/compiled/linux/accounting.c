/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The fields of a connection, from airpath's events: packets from bytes, microseconds and ticks from nanoseconds. */
#include "flow.h"

_Thread_local struct airpath_moment airpath_now;

/* The kernel's ticks begin five minutes before they wrap around, so that faults show early. */
#define FIRST_TICK ((unsigned long)(u32)(-300 * HZ))

void set_clocks(struct flow *flow, u64 now)
{
	u64 ns = airpath_settings.uptime_ns + now;

	airpath_now.ns = ns;
	/* In two steps, because the product of time and HZ exceeds 64 bits after some months. */
	airpath_now.ticks = FIRST_TICK + ns / NSEC_PER_SEC * HZ + ns % NSEC_PER_SEC * HZ / NSEC_PER_SEC;
	airpath_now.random = &flow->random;
	flow->tp.tcp_mstamp = microseconds(ns);
	flow->tp.tcp_clock_cache = ns;
	flow->tp.tcp_wstamp_ns = ns; /* no packet waits below the transport */
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
u64 airpath_random(void)
{
	u64 z = *airpath_now.random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void take_rtt(struct flow *flow, const struct airpath_rtt *rtt)
{
	struct tcp_sock *tp = &flow->tp;

	if (!rtt->smoothed)
		return;
	tp->srtt_us = max_t(u32, rtt->smoothed * 8 / 1000, 1);
	tp->mdev_us = rtt->variation * 4 / 1000;
	tp->rttvar_us = max_t(u64, tp->mdev_us, microseconds(airpath_settings.min_rto_ns));
	tp->inet_conn.icsk_rto = usecs_to_jiffies(tp->srtt_us / 8 + tp->rttvar_us);
	minmax_reset(&tp->rtt_min, tcp_jiffies32, max_t(u32, microseconds(rtt->minimum), 1));
}

void take_amounts(struct flow *flow, u64 in_flight)
{
	struct tcp_sock *tp = &flow->tp;

	tp->snd_una = airpath_settings.isn + flow->una;
	tp->snd_nxt = tp->write_seq = airpath_settings.isn + flow->next;
	tp->packets_out = packets(flow, flow->next - flow->una);
	tp->sacked_out = packets(flow, flow->delivered - flow->una);
	tp->delivered = 1 + packets(flow, flow->delivered - flow->skipped); /* the kernel counts the SYN */
	tp->delivered_ce = packets(flow, flow->marked);
	tp->lost = packets(flow, flow->lost);
	tp->bytes_acked = flow->una;
	tp->airpath_in_flight = packets(flow, in_flight);
	tp->lost_out = tp->packets_out - min(tp->packets_out, tp->sacked_out + tp->airpath_in_flight);
}

void take_ack(struct flow *flow, const struct airpath_ack *ack)
{
	struct tcp_sock *tp = &flow->tp;

	flow->una += ack->advance;
	flow->delivered = max_t(u64, flow->delivered + ack->acked, flow->una);
	flow->marked += ack->marked;
	report_lost(flow, ack->newly_lost);
	take_rtt(flow, &ack->rtt);
	take_amounts(flow, ack->in_flight);
	tp->is_cwnd_limited = !!(ack->flags & AIRPATH_ACK_WINDOW_LIMITED);
	if (ack->flags & AIRPATH_ACK_RECEIVER_TIME) {
		tp->rx_opt.rcv_tsval = ack->receiver_time / NSEC_PER_MSEC;
		if (ack->flags & AIRPATH_ACK_LATEST_SENT)
			tp->rx_opt.rcv_tsecr = (airpath_settings.uptime_ns + ack->latest_sent_at) / NSEC_PER_MSEC;
	}
	if (ack->advance)
		tp->inet_conn.icsk_retransmits = 0;
	if (tp->app_limited && after(tp->delivered, tp->app_limited))
		tp->app_limited = 0;
	if (ack->acked)
		tp->delivered_mstamp = tp->tcp_mstamp;
}

/*
 * New data is sent while `in_flight` bytes are in flight. TCP retransmits what is lost before that. QUIC has sent it
 * again as new data, so that its numbers are never acknowledged.
 */
void skip_lost(struct flow *flow, u64 in_flight)
{
	u64 known = flow->delivered + in_flight, lost = flow->next > known ? flow->next - known : 0;

	flow->una += lost;
	flow->delivered += lost;
	flow->skipped += lost;
}

/* Modules may declare that the application is the limit, as BBR does while it probes the round-trip time. */
void watch_limit(struct flow *flow)
{
	u32 delivered = flow->tp.delivered;

	if (flow->tp.app_limited && !flow->limited) {
		flow->limited = true;
		flow->limited_from = delivered;
	} else if (!flow->tp.app_limited && flow->limited) {
		flow->limited = false;
		flow->limited_to = delivered;
	}
}

/* Whether a packet was sent, with `delivered` as then, while the module had declared so. */
static bool was_limited(const struct flow *flow, u32 delivered)
{
	if (flow->limited)
		return !before(delivered, flow->limited_from);
	return flow->limited_to && !before(delivered, flow->limited_from) && before(delivered, flow->limited_to);
}

void take_rate(struct flow *flow, const struct airpath_ack *ack, struct rate_sample *sample)
{
	struct tcp_sock *tp = &flow->tp;

	sample->rtt_us = ack->flags & AIRPATH_ACK_RTT_SAMPLE ? (long)microseconds(ack->rtt_sample) : -1;
	sample->prior_in_flight = packets(flow, ack->in_flight_before);
	sample->tx_in_flight = packets(flow, ack->in_flight_at_send);
	sample->is_ece = ack->flags & AIRPATH_ACK_CONGESTION_EXPERIENCED;
	sample->last_end_seq = tp->snd_una;
	sample->is_ack_delayed = ack->advance && ack->advance < flow->mss && ack->acked == ack->advance;
	sample->delivered = sample->interval_us = -1;
	if (!(ack->flags & AIRPATH_ACK_RATE_SAMPLE))
		return;
	sample->prior_delivered = 1 + packets(flow, ack->rate_prior_delivered);
	sample->delivered = tp->delivered - sample->prior_delivered;
	sample->interval_us = microseconds(ack->rate_interval);
	sample->lost = packets(flow, ack->rate_lost);
	sample->prior_lost = tp->lost - sample->lost;
	sample->prior_mstamp = tp->tcp_mstamp - sample->interval_us;
	sample->rcv_interval_us = sample->snd_interval_us = sample->interval_us;
	sample->is_app_limited = ack->flags & AIRPATH_ACK_APP_LIMITED || was_limited(flow, sample->prior_delivered);
}
