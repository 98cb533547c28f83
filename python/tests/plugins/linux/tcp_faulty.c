// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A module with faults, of which a parameter chooses one. */
#include <linux/module.h>
#include <net/tcp.h>

static char *const faults[] = { "none", "division", "shift", "index", "bug", "refusal" };
static uint fault = 0;
static int zero = 0;
static u32 list[4];
module_param(fault, uint, 0644);

static u32 faulty_ssthresh(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	switch (fault) {
	case 1:
		return tp->snd_cwnd / zero;
	case 2:
		return 1U << (zero + 40);
	case 3:
		return list[zero + 4 + !faults[0]];
	case 4:
		BUG_ON(!zero);
	}
	return tcp_reno_ssthresh(sk);
}

static struct tcp_congestion_ops faulty = {
	.ssthresh = faulty_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.name = "faulty",
};

static int __init faulty_register(void)
{
	return fault == 5 ? -EINVAL : tcp_register_congestion_control(&faulty);
}
module_init(faulty_register);
