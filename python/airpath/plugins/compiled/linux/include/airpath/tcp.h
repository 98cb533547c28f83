/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The interface of modules, and the functions of TCP that they call. */
#ifndef AIRPATH_TCP_H
#define AIRPATH_TCP_H

#include "airpath/arithmetic.h"
#include "airpath/clock.h"
#include "airpath/connection.h"

/* ---- The interface ---------------------------------------------------------------------------------------- */

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
	CA_EVENT_TLP_RECOVERY, /* of BBRv3; not called */
};
enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };
#define TCP_CA_NAME_MAX 16
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
#define TCP_CONG_NEEDS_ACCECN 4
#define TCP_CONG_WANTS_CE_EVENTS 0x100

/*
 * The types of two functions depend on the version of the kernel; the builder tries which of them a source has.
 * AIRPATH_CONG_CONTROL is the number of parameters of cong_control: 4 since 6.10, before it 2.
 * AIRPATH_PKTS_ACKED is that of pkts_acked: 2 since 4.7, before it 3.
 */
#ifndef AIRPATH_CONG_CONTROL
#define AIRPATH_CONG_CONTROL 4
#endif
#ifndef AIRPATH_PKTS_ACKED
#define AIRPATH_PKTS_ACKED 2
#endif

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*cwnd_event_tx_start)(struct sock *sk); /* since 7.1, instead of CA_EVENT_TX_START */
	void (*in_ack_event)(struct sock *sk, u32 flags);
#if AIRPATH_PKTS_ACKED == 3
	void (*pkts_acked)(struct sock *sk, u32 packets, s32 rtt_us);
#else
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
#endif
	u32 (*min_tso_segs)(struct sock *sk);
	u32 (*tso_segs_goal)(struct sock *sk); /* up to 4.16; not called */
	u32 (*tso_segs)(struct sock *sk, unsigned int mss); /* of BBRv3 */
	void (*skb_marked_lost)(struct sock *sk, const struct sk_buff *skb); /* of BBRv3 */
#if AIRPATH_CONG_CONTROL == 2
	void (*cong_control)(struct sock *sk, const struct rate_sample *sample);
#else
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample);
#endif
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk); /* not called: the send buffer is large enough */
	size_t (*get_info)(struct sock *sk, u32 ext, int *attribute, union tcp_cc_info *info);
	char name[TCP_CA_NAME_MAX];
	struct module *owner;
	struct list_head list;
	u32 key, flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};
int tcp_register_congestion_control(struct tcp_congestion_ops *type);
void tcp_unregister_congestion_control(struct tcp_congestion_ops *type);

/* ---- Parts of a connection -------------------------------------------------------------------------------- */

static inline struct tcp_sock *tcp_sk(const struct sock *sk) { return (struct tcp_sock *)sk; }
static inline struct inet_connection_sock *inet_csk(const struct sock *sk) { return (struct inet_connection_sock *)sk; }
static inline void *inet_csk_ca(const struct sock *sk) { return inet_csk(sk)->icsk_ca_priv; }
static inline struct net *sock_net(const struct sock *sk) { return sk->sk_net; }

/* Sequence numbers wrap around. */
static inline bool before(u32 one, u32 other) { return (s32)(one - other) < 0; }
#define after(one, other) before(other, one)
static inline bool between(u32 x, u32 low, u32 high) { return high - low >= x - low; }

/* ---- State ------------------------------------------------------------------------------------------------ */

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp) { return tp->snd_cwnd; }
static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 packets) { tp->snd_cwnd = packets; }
static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp) { return tp->airpath_in_flight; }
static inline u32 tcp_left_out(const struct tcp_sock *tp) { return tp->sacked_out + tp->lost_out; }
static inline bool tcp_is_cwnd_limited(const struct sock *sk) { return tcp_sk(sk)->is_cwnd_limited; }
static inline bool tcp_in_slow_start(const struct tcp_sock *tp) { return tp->snd_cwnd < tp->snd_ssthresh; }
static inline bool tcp_in_initial_slowstart(const struct tcp_sock *tp)
{
	return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH;
}
static inline bool tcp_in_cwnd_reduction(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_state == TCP_CA_CWR || inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery;
}
static inline bool tcp_is_sack(const struct tcp_sock *tp) { return tp->rx_opt.sack_ok; }
static inline bool tcp_is_reno(const struct tcp_sock *tp) { return !tcp_is_sack(tp); }
static inline u32 tcp_min_rtt(const struct tcp_sock *tp) { return tp->rtt_min.s[0].v; }
static inline u32 tcp_stamp_us_delta(u64 later, u64 earlier) { return later > earlier ? later - earlier : 0; }
static inline u32 tcp_stamp32_us_delta(u32 later, u32 earlier) { return max_t(s32, later - earlier, 0); }
#define tcp_time_stamp(tp) ((u32)((tp)->tcp_mstamp / USEC_PER_MSEC))
#define tcp_time_stamp_ts(tp) tcp_time_stamp(tp)
#define tcp_time_stamp_ms(tp) tcp_time_stamp(tp)
#define minmax_time_stamp tcp_jiffies32

/* ---- Windows (windows.c) and states (states.c) ------------------------------------------------------------ */

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 window, u32 acked);
u32 tcp_reno_ssthresh(struct sock *sk);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
u32 tcp_reno_undo_cwnd(struct sock *sk);
u32 tcp_current_ssthresh(const struct sock *sk);
u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss, int min_segments);
void tcp_enter_cwr(struct sock *sk);

/* ---- The receiving side, headers of IP, and statistics: nothing ------------------------------------------- */

#define NET_INC_STATS(net, which) ((void)(net))
#define NET_ADD_STATS(net, which, value) ((void)(net))
#define INET_ECN_dontxmit(sk) ((void)(sk))
#define INET_ECN_xmit(sk) ((void)(sk))
#define __tcp_send_ack(...) ((void)0)
struct tcp_plb_state {
	u8 consec_cong_rounds;
	u32 pause_until;
} __attribute__((packed));
#define TCP_PLB_SCALE 8
#define tcp_plb_init(sk, plb) ((void)(sk), (void)(plb))
#define tcp_plb_update_state(sk, plb, ratio) ((void)(sk), (void)(plb), (void)(ratio))
#define tcp_plb_check_rehash(sk, plb) ((void)(sk), (void)(plb))
#define tcp_plb_update_state_upon_rto(sk, plb) ((void)(sk), (void)(plb))

#endif
