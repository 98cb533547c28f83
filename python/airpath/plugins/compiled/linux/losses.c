/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Lost packets, for modules with skb_marked_lost (BBRv3): each as it was when it was sent. airpath reports how much was
 * lost, not which packets. They are taken for the oldest that are out, which they are unless packets overtake each other.
 */
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "flow.h"

static struct tcp_skb_cb *departure(struct flow *flow, u64 at)
{
	return &flow->departures[at / flow->mss & (flow->departures_size - 1)];
}

/* Makes room for the packets that are out and one more. */
static void grow(struct flow *flow)
{
	struct tcp_skb_cb *before = flow->departures;
	u32 size = flow->departures_size;
	u64 at;

	if ((flow->next - min(flow->una, flow->next)) / flow->mss + 2 < size)
		return;
	flow->departures_size = size ? 2 * size : 64;
	flow->departures = calloc(flow->departures_size, sizeof(*before));
	if (!flow->departures)
		airpath_fault(__FILE__, __LINE__, "no memory");
	for (at = flow->una; size && at < flow->next; at += flow->mss)
		*departure(flow, at) = before[at / flow->mss & (size - 1)];
	free(before);
}

/* Keeps what a new packet is sent with. */
void note_departure(struct flow *flow, const struct airpath_sent *sent)
{
	struct tcp_sock *tp = &flow->tp;
	struct tcp_skb_cb *packet;

	if (!module_of(flow)->skb_marked_lost)
		return;
	grow(flow);
	packet = departure(flow, flow->next);
	packet->seq = airpath_settings.isn + flow->next;
	packet->end_seq = packet->seq + sent->payload;
	packet->sacked = 0;
	packet->tx.in_flight = packets(flow, sent->in_flight);
	packet->tx.delivered = tp->delivered;
	packet->tx.delivered_ce = tp->delivered_ce;
	packet->tx.lost = tp->lost;
	packet->tx.first_tx_mstamp = max_t(u32, tp->tcp_mstamp, 1);
	packet->tx.delivered_mstamp = max_t(u32, tp->delivered_mstamp, 1);
	packet->tx.is_app_limited = tp->app_limited != 0;
}

/* Counts a loss, and reports its packets to the module. */
void report_lost(struct flow *flow, u64 bytes)
{
	struct sk_buff skb = { .len = flow->mss };

	flow->lost_up_to = max(flow->lost_up_to, flow->una);
	for (; flow->departures && bytes && flow->lost_up_to < flow->next; flow->lost_up_to += flow->mss) {
		u64 part = min_t(u64, bytes, flow->mss);

		flow->lost += part;
		bytes -= part;
		flow->tp.lost = packets(flow, flow->lost);
		skb.airpath_cb = *departure(flow, flow->lost_up_to);
		skb.airpath_cb.sacked = TCPCB_LOST;
		if (flow->started)
			module_of(flow)->skb_marked_lost(socket_of(flow), &skb);
	}
	flow->lost += bytes;
}
