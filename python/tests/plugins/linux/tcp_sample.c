// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Additive increase and multiplicative decrease, as a module would be written for the kernel. */
#include <linux/module.h>
#include <net/tcp.h>

static int keep __read_mostly = 3;
module_param(keep, int, 0644);
MODULE_PARM_DESC(keep, "quarters of the window that remain after a loss");

struct sample {
	u32 min_rtt_us;
	u32 losses;
	u32 last_loss;
	u32 first_seq;
};

static void sample_init(struct sock *sk)
{
	struct sample *ca = inet_csk_ca(sk);

	ca->min_rtt_us = ~0U;
	ca->last_loss = tcp_jiffies32;
	ca->first_seq = tcp_sk(sk)->snd_una;
}

static void sample_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct sample *ca = inet_csk_ca(sk);

	if (sample->rtt_us > 0)
		ca->min_rtt_us = min(ca->min_rtt_us, (u32)sample->rtt_us);
}

/* A loss keeps some quarters of the window; one that comes early, or within the first megabyte, keeps half. */
static u32 sample_ssthresh(struct sock *sk)
{
	struct sample *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool early = time_before32(tcp_jiffies32, ca->last_loss + HZ / 10);
	bool young = before(tp->snd_una, ca->first_seq + 1000000);

	ca->losses++;
	ca->last_loss = tcp_jiffies32;
	return max(tcp_snd_cwnd(tp) * (early || young ? 2 : keep) / 4, 2U);
}

static struct tcp_congestion_ops sample __read_mostly = {
	.init = sample_init,
	.ssthresh = sample_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.pkts_acked = sample_acked,
	.owner = THIS_MODULE,
	.name = "sample",
};

static int __init sample_register(void)
{
	BUILD_BUG_ON(sizeof(struct sample) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&sample);
}

static void __exit sample_unregister(void)
{
	tcp_unregister_congestion_control(&sample);
}

module_init(sample_register);
module_exit(sample_unregister);
MODULE_LICENSE("Dual MIT/GPL");
