// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reno, of which the kernel has the functions but no module. */
#include <linux/module.h>
#include <net/tcp.h>

static struct tcp_congestion_ops reno __read_mostly = {
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.owner = THIS_MODULE,
	.name = "reno",
};

static int __init reno_register(void)
{
	return tcp_register_congestion_control(&reno);
}

module_init(reno_register);
MODULE_LICENSE("Dual MIT/GPL");
