/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A connection as congestion control modules see it: the fields that they read and write. */
#ifndef AIRPATH_CONNECTION_H
#define AIRPATH_CONNECTION_H

#include "airpath/language.h"
#include "airpath/minmax.h"

/* The memory of a module for a connection, bytes. */
#ifndef ICSK_CA_PRIV_SIZE
#define ICSK_CA_PRIV_SIZE 104
#endif

struct tcp_congestion_ops;
struct net {
	struct {
		int sysctl_tcp_reordering, sysctl_tcp_slow_start_after_idle, sysctl_tcp_ecn;
		int sysctl_tcp_pacing_ss_ratio, sysctl_tcp_pacing_ca_ratio, sysctl_tcp_min_tso_segs;
		int sysctl_tcp_plb_enabled;
	} ipv4;
};

enum { TCP_ESTABLISHED = 1, TCP_CLOSE = 7, TCP_CLOSE_WAIT = 8, TCP_LISTEN = 10 };
enum tcp_ca_state { TCP_CA_Open = 0, TCP_CA_Disorder = 1, TCP_CA_CWR = 2, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };
#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)
enum sk_pacing { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1, SK_PACING_FQ = 2 };

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_ECN_SEEN 8
#define TCP_ECN_LOW 16
#define TCP_ECN_ECT_PERMANENT 32
#define GSO_MAX_SIZE 65536u
#define GSO_LEGACY_MAX_SIZE 65536u
#define MAX_TCP_HEADER 320
#define MAX_TCP_WINDOW 32767u
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16

struct sock {
	u8 sk_state;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate, sk_max_pacing_rate; /* bytes per second */
	u32 sk_pacing_shift;
	u32 sk_gso_max_size, sk_gso_max_segs;
	u32 sk_mark, sk_priority;
	int sk_sndbuf, sk_rcvbuf;
	struct net *sk_net;
};

struct inet_connection_sock {
	struct sock sk; /* first: modules cast a socket to the connection that it is part of */
	const struct tcp_congestion_ops *icsk_ca_ops;
	u8 icsk_ca_state, icsk_retransmits, icsk_backoff;
	u32 icsk_rto;
	struct {
		u8 pending, quick, pingpong;
	} icsk_ack;
	u64 icsk_ca_priv[(ICSK_CA_PRIV_SIZE + 7) / 8];
};

struct tcp_options_received {
	u32 rcv_tsval, rcv_tsecr;
	u16 sack_ok, saw_tstamp, tstamp_ok;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn; /* first, as above */
	u32 snd_una, snd_nxt, snd_wnd, rcv_nxt, write_seq, high_seq;
	u32 snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, snd_cwnd_stamp, snd_ssthresh;
	u32 prior_cwnd, prior_ssthresh, undo_marker;
	u32 prr_delivered, prr_out;
	u32 packets_out, sacked_out, lost_out, retrans_out, max_packets_out;
	u32 delivered, delivered_ce, lost, app_limited, total_retrans;
	u32 reordering;
	u32 mss_cache, advmss;
	u32 srtt_us, mdev_us, rttvar_us; /* eight times, four times and four times the value */
	u32 lsndtime;
	u32 rate_delivered, rate_interval_us;
	u64 tcp_mstamp, tcp_clock_cache, tcp_wstamp_ns, delivered_mstamp, first_tx_mstamp;
	u64 bytes_acked, bytes_sent, bytes_retrans;
	u8 ecn_flags, is_cwnd_limited, is_sack_reneg, fast_ack_mode, tlp_orig_data_app_limited;
	u32 segs_out, data_segs_out, segs_in, data_segs_in, retransmits;
	struct minmax rtt_min;
	struct tcp_options_received rx_opt;
	u32 airpath_in_flight; /* packets, as the transport counts them */
};

/* What acknowledgments report to modules. */
struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight; /* bytes */
};
struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered, prior_delivered_ce;
	s32 delivered, delivered_ce;
	long interval_us;
	u32 snd_interval_us, rcv_interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked, prior_in_flight, last_end_seq;
	bool is_app_limited, is_retrans, is_ack_delayed;
	/* Those of kernels with BBRv3: losses since the newest acknowledged packet was sent, and in flight then. */
	u32 prior_lost, tx_in_flight;
	s32 lost;
	bool is_ece, is_acking_tlp_retrans_seq;
};

/* A packet that was lost, as it was sent (kernels with BBRv3). */
struct tcp_skb_cb {
	u32 seq, end_seq;
	u8 sacked;
	struct {
		u32 in_flight, delivered, delivered_ce, lost;
		u32 first_tx_mstamp, delivered_mstamp;
		bool is_app_limited;
	} tx;
};
struct sk_buff {
	u32 len;
	struct tcp_skb_cb airpath_cb;
};
#define TCPCB_SACKED_ACKED 1
#define TCPCB_SACKED_RETRANS 2
#define TCPCB_LOST 4
#define TCPCB_IN_FLIGHT_BITS 20
#define TCPCB_IN_FLIGHT_MAX ((1U << TCPCB_IN_FLIGHT_BITS) - 1)
#define TCP_SKB_CB(skb) ((struct tcp_skb_cb *)&(skb)->airpath_cb)
static inline int tcp_skb_pcount(const struct sk_buff *skb) { (void)skb; return 1; }
static inline bool tcp_skb_tx_in_flight_is_suspicious(u32 count, u32 sacked, u32 in_flight)
{
	return count > in_flight && !(sacked & TCPCB_LOST);
}

/* What modules report to `ss -i`. */
struct tcpvegas_info {
	u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};
struct tcp_dctcp_info {
	u16 dctcp_enabled, dctcp_ce_state;
	u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};
struct tcp_bbr_info {
	u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
	/* Those of BBRv3. */
	u32 bbr_bw_hi_lsb, bbr_bw_hi_msb, bbr_bw_lo_lsb, bbr_bw_lo_msb;
	u8 bbr_mode, bbr_phase, unused1, bbr_version;
	u32 bbr_inflight_lo, bbr_inflight_hi, bbr_extra_acked;
};
enum tcp_bbr_phase {
	BBR_PHASE_INVALID,
	BBR_PHASE_STARTUP,
	BBR_PHASE_DRAIN,
	BBR_PHASE_PROBE_RTT,
	BBR_PHASE_PROBE_BW_UP,
	BBR_PHASE_PROBE_BW_DOWN,
	BBR_PHASE_PROBE_BW_CRUISE,
	BBR_PHASE_PROBE_BW_REFILL,
};
union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct tcp_dctcp_info dctcp;
	struct tcp_bbr_info bbr;
};
enum { INET_DIAG_VEGASINFO = 3, INET_DIAG_DCTCPINFO = 9, INET_DIAG_BBRINFO = 16 };

#endif
