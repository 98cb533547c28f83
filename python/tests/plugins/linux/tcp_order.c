// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reports in which order its functions are called during an event: a digit for each (CALLS in test_modules.py). */
#include <linux/module.h>
#include <linux/inet_diag.h>
#include <net/tcp.h>

struct order {
	u32 digits;
};

static void called(struct sock *sk, u32 digit)
{
	struct order *ca = inet_csk_ca(sk);

	ca->digits = 10 * ca->digits + digit;
}

static void order_acked(struct sock *sk, const struct ack_sample *sample)
{
	called(sk, 1);
}

static void order_in_ack(struct sock *sk, u32 flags)
{
	called(sk, 2);
}

static u32 order_ssthresh(struct sock *sk)
{
	called(sk, 3);
	return tcp_reno_ssthresh(sk);
}

static void order_state(struct sock *sk, u8 state)
{
	called(sk, 4);
}

static void order_event(struct sock *sk, enum tcp_ca_event event)
{
	called(sk, event == CA_EVENT_COMPLETE_CWR ? 5 : event == CA_EVENT_LOSS ? 7 : event == CA_EVENT_TX_START ? 8 : 9);
}

static void order_avoid(struct sock *sk, u32 ack, u32 acked)
{
	called(sk, 6);
	tcp_reno_cong_avoid(sk, ack, acked);
}

static size_t order_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	struct order *ca = inet_csk_ca(sk);

	info->dctcp.dctcp_alpha = ca->digits;
	ca->digits = 0;
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

static struct tcp_congestion_ops order = {
	.ssthresh = order_ssthresh,
	.cong_avoid = order_avoid,
	.set_state = order_state,
	.cwnd_event = order_event,
	.in_ack_event = order_in_ack,
	.pkts_acked = order_acked,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.get_info = order_info,
	.owner = THIS_MODULE,
	.name = "order",
};

static int __init order_register(void)
{
	return tcp_register_congestion_control(&order);
}
module_init(order_register);
MODULE_LICENSE("Dual MIT/GPL");
