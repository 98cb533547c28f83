// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reno that counts the packets which are reported lost, and checks with what they were sent. */
#include <linux/module.h>
#include <net/tcp.h>

struct losses {
	u32 count;
};

static void losses_marked(struct sock *sk, const struct sk_buff *skb)
{
	struct losses *losses = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct tcp_skb_cb *sent = TCP_SKB_CB(skb);

	losses->count++;
	if (before(sent->seq, tp->snd_una) || !before(sent->seq, tp->snd_nxt))
		BUG();
	if (sent->end_seq - sent->seq > tp->mss_cache || !sent->tx.in_flight || sent->tx.in_flight > 1000)
		BUG();
	if (sent->tx.delivered > tp->delivered || sent->tx.lost >= tp->lost || !(sent->sacked & TCPCB_LOST))
		BUG();
}

static size_t losses_info(struct sock *sk, u32 ext, int *kind, union tcp_cc_info *info)
{
	struct losses *losses = inet_csk_ca(sk);

	*kind = INET_DIAG_VEGASINFO;
	info->vegas.tcpv_rtt = losses->count;
	return sizeof(info->vegas);
}

static struct tcp_congestion_ops losses __read_mostly = {
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.skb_marked_lost = losses_marked,
	.get_info = losses_info,
	.owner = THIS_MODULE,
	.name = "losses",
};

static int __init losses_register(void)
{
	return tcp_register_congestion_control(&losses);
}
module_init(losses_register);
MODULE_LICENSE("Dual MIT/GPL");
