/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel types that these programs use. The loader finds the fields in the running kernel by
 * name (CO-RE), so that the build needs no description of any kernel.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

/* Protocols, options and header fields of the user API (linux/in.h, linux/tcp.h, linux/if_ether.h). */
#define IPPROTO_TCP 6
#define SOL_TCP IPPROTO_TCP
#define TCP_CONGESTION 13
/* Linux 6.13 and newer; older kernels reject it. */
#define TCP_BPF_SOCK_OPS_CB_FLAGS 1008
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define ETH_HLEN 14

/* enum tcp_ca_state. */
#define TCP_CA_Open 0
#define TCP_CA_CWR 2
#define TCP_CA_Recovery 3
#define TCP_CA_Loss 4
/* `flag` of cong_control: the acknowledgment echoes a mark (FLAG_ECE). */
#define ACK_ECHOES_MARK 0x40
/* ecn_flags: the connection negotiated marks (RFC 3168), or counts of marks (accurate ECN). */
#define ECN_AGREED 0x11
/* enum sk_pacing. */
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1
/* flags of struct tcp_congestion_ops: any user may choose the controller. */
#define TCP_CONG_NON_RESTRICTED 1

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	__u32 sk_pacing_status;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state : 5, icsk_ca_initialized : 1;
};

struct tcp_options_received {
	__u32 rcv_tsval;
	__u16 saw_tstamp : 1, tstamp_ok : 1;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	__u64 tcp_mstamp;
	__u32 snd_una;
	__u32 mss_cache;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 prr_out;
	__u32 packets_out;
	__u32 max_packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 srtt_us;
	__u8 is_cwnd_limited : 1;
	/* The last tail loss probe retransmitted data. */
	__u8 tlp_retrans : 1;
	__u8 ecn_flags;
};

struct rate_sample {
	long rtt_us;
	__u32 acked_sacked;
	__u32 prior_in_flight;
};

#pragma clang attribute pop

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	char name[16];
	__u32 flags;
};
