/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface between the kernel's TCP and a controller: converts kernel state into events, and the
 * controller's result into a window. The kernel's own window arithmetic is bypassed (`cong_control`), so that
 * proportional rate reduction is done here.
 */
#pragma once

#include "record.h"

/* Upper bound of the window, packets. */
#define LARGEST_WINDOW (1U << 20)
/* Headers of a segment in addition to its payload: IP, TCP, timestamps. */
#define HEADERS 52

static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline u8 recovery_state(struct sock *sk)
{
	struct inet_connection_sock *connection = (struct inet_connection_sock *)sk;

	return BPF_CORE_READ_BITFIELD(connection, icsk_ca_state);
}

static __always_inline u32 in_flight(const struct tcp_sock *tcp)
{
	return tcp->packets_out - tcp->sacked_out - tcp->lost_out + tcp->retrans_out;
}

/*
 * The window during proportional rate reduction, while more is in flight than the window (RFC 6937 with the
 * slow-start bound).
 */
static __always_inline u32 reduced(struct sender *sender, const struct tcp_sock *tcp, u32 packets, u32 delivered)
{
	u32 pipe = in_flight(tcp), sent = tcp->prr_out, allowance;

	sender->delivered += delivered;
	if (pipe > packets) {
		u64 due = (u64)sender->delivered * packets + sender->recover_flight - 1;

		allowance = difference(due / sender->recover_flight, sent);
	} else {
		u64 limit = maximum(difference(sender->delivered, sent), delivered) + 1;

		allowance = minimum(packets - pipe, limit);
	}
	/* The first retransmission is sent at once. */
	return pipe + maximum(allowance, !sent);
}

static __always_inline void pace(struct sock *sk, struct sender *sender, const int controller, u64 window, u32 mss)
{
	u32 spacing = 0;
	u64 rate = sk->sk_max_pacing_rate;

	if (controller == CONTROLLER_VCP && !sender->state.standard.active)
		spacing = vcp_spacing(&sender->state.vcp);
	if (spacing) {
		rate = minimum(rate, (mss + HEADERS) * MICROSECONDS / spacing);
		if (sk->sk_pacing_status == SK_PACING_NONE) {
			sk->sk_pacing_status = SK_PACING_NEEDED;
			sender->paced = true;
		}
	} else {
		/* Twice the window in a round trip: limits only the size of bursts (TSO). */
		if (sender->rtt.smoothed)
			rate = minimum(rate, 2 * window * MICROSECONDS / sender->rtt.smoothed);
		if (sender->paced && sk->sk_pacing_status == SK_PACING_NEEDED)
			sk->sk_pacing_status = SK_PACING_NONE;
		sender->paced = false;
	}
	sk->sk_pacing_rate = maximum(rate, 1);
}

/* Sets the kernel's window to the controller's. */
static __always_inline void apply(struct sock *sk, struct sender *sender, const int controller, u8 state, u32 delivered)
{
	struct tcp_sock *tcp = tcp_of(sk);
	u32 mss = tcp->mss_cache, packets;
	u64 window;

	if (!mss)
		return;
	window = controller_window(&sender->state, controller);
	packets = maximum(minimum(window / mss, LARGEST_WINDOW), 1);
	if (sender->recover_flight && (state == TCP_CA_Recovery || state == TCP_CA_CWR))
		packets = reduced(sender, tcp, packets, delivered);
	else
		sender->recover_flight = 0;
	tcp->snd_cwnd = maximum(packets, 1);
	if (!follows_routers(controller))
		tcp->snd_ssthresh = minimum(maximum(sender->state.now.ssthresh / mss, 2), 0x7fffffff);
	pace(sk, sender, controller, window, mss);
}

static __always_inline struct sender *sender_of(struct sock *sk, const int controller)
{
	struct sender *sender = bpf_sk_storage_get(&senders, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (sender)
		sender->controller = controller;
	return sender;
}

/* On the first event: segment size and initial window are not known earlier. */
static __always_inline void start(struct sock *sk, struct sender *sender, const int controller)
{
	struct tcp_sock *tcp = tcp_of(sk);
	struct record *record;
	u32 window = tcp->snd_cwnd * tcp->mss_cache;

	if (sender->started)
		return;
	sender->started = true;
	sender->number = __sync_fetch_and_add(&counters.started, 1) + 1;
	sender->snd_una = tcp->snd_una;
	controller_start(&sender->state, controller, window, tcp->mss_cache);
	record = record_begin(sender, RECORD_START);
	if (record)
		record->mss = tcp->mss_cache;
	record_end(record, window);
	/* Connections that chose the controller after they were established have no options yet. */
	if (follows_routers(controller)) {
		int flags = BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;

		bpf_setsockopt(sk, SOL_TCP, TCP_BPF_SOCK_OPS_CB_FLAGS, &flags, sizeof(flags));
	}
}

static __always_inline void note_round_trip(struct sender *sender, const struct tcp_sock *tcp, long sample)
{
	struct round_trip *rtt = &sender->rtt;

	rtt->sample = 0;
	rtt->smoothed = tcp->srtt_us >> 3;
	if (sample <= 0 || sample > 0xffffffff)
		return;
	rtt->sample = rtt->latest = sample;
	if (!rtt->minimum || rtt->sample < rtt->minimum)
		rtt->minimum = rtt->sample;
}

/* Whether the window, not the application, limited the flight; as the kernel's tcp_is_cwnd_limited. */
static __always_inline bool window_limited(const struct tcp_sock *tcp, const struct sender *sender, const int controller)
{
	if (BPF_CORE_READ_BITFIELD(tcp, is_cwnd_limited))
		return true;
	if (!is_windowed(&sender->state, controller))
		return false;
	return sender->state.now.window < sender->state.now.ssthresh && tcp->snd_cwnd < 2 * tcp->max_packets_out;
}

static __always_inline void datapath_ack(struct sock *sk, int flag, const struct rate_sample *sample, const int controller)
{
	struct sender *sender = sender_of(sk, controller);
	struct tcp_sock *tcp = tcp_of(sk);
	struct ack_event event = { 0 };
	struct record *record;
	u8 state = recovery_state(sk);

	if (!sender)
		return;
	start(sk, sender, controller);
	note_round_trip(sender, tcp, sample->rtt_us);
	event.now = tcp->tcp_mstamp;
	event.mss = tcp->mss_cache;
	event.acked = sample->acked_sacked * event.mss;
	event.advance = tcp->snd_una - sender->snd_una;
	sender->snd_una = tcp->snd_una;
	event.duplicate = !event.advance && tcp->packets_out;
	event.rtt = sender->rtt;
	event.window_limited = window_limited(tcp, sender, controller);
	/* After a timeout, lost data is retransmitted in slow start: the window grows (RFC 5681, section 3.1). */
	event.in_recovery = state == TCP_CA_Recovery;
	event.marked = flag & ACK_ECHOES_MARK;
	event.feedback = sender->feedback;
	event.load = sender->load;
	event.change = sender->change;
	sender->feedback = FEEDBACK_NONE;
	sender->change = 0;
	if (controller == CONTROLLER_SARBE) {
		event.receiver_stamp = tcp->rx_opt.rcv_tsval;
		event.has_stamp = BPF_CORE_READ_BITFIELD(tcp, rx_opt.saw_tstamp);
	}
	if (event.advance)
		sender->timeouts = 0;
	record = record_begin(sender, RECORD_ACK);
	if (record)
		record->ack = event;
	controller_on_ack(&sender->state, controller, &event);
	record_end(record, controller_window(&sender->state, controller));
	apply(sk, sender, controller, state, sample->acked_sacked);
}

/*
 * Derives a signal from a new state of the kernel. Data that a tail loss probe repaired was lost, but the
 * kernel reports it as a mark; if marks were negotiated, the two cannot be distinguished.
 */
static __always_inline u8 signal_of(const struct tcp_sock *tcp, u8 state)
{
	if (state == TCP_CA_Loss)
		return SIGNAL_TIMEOUT;
	if (state == TCP_CA_Recovery)
		return SIGNAL_LOSS;
	if (tcp->ecn_flags & ECN_AGREED)
		return SIGNAL_MARK;
	return BPF_CORE_READ_BITFIELD(tcp, tlp_retrans) ? SIGNAL_LOSS : SIGNAL_MARK;
}

static __always_inline void datapath_state(struct sock *sk, u8 next, const int controller)
{
	struct tcp_sock *tcp = tcp_of(sk);
	struct congestion_event event = { 0 };
	struct record *record;
	struct sender *sender;
	u64 before;

	if (next != TCP_CA_Recovery && next != TCP_CA_CWR && next != TCP_CA_Loss)
		return;
	sender = sender_of(sk, controller);
	if (!sender)
		return;
	start(sk, sender, controller);
	if (next == TCP_CA_Loss)
		sender->timeouts++;
	event.now = tcp->tcp_mstamp;
	event.mss = tcp->mss_cache;
	event.flight_size = tcp->packets_out * event.mss;
	event.rtt = sender->rtt;
	event.rtt.smoothed = tcp->srtt_us >> 3;
	event.consecutive = sender->timeouts;
	event.signal = signal_of(tcp, next);
	before = controller_window(&sender->state, controller);
	record = record_begin(sender, RECORD_CONGESTION);
	if (record)
		record->congestion = event;
	controller_on_congestion(&sender->state, controller, &event);
	record_end(record, controller_window(&sender->state, controller));
	sender->delivered = 0;
	/* A loss that is only repaired reduces nothing. */
	sender->recover_flight = controller_window(&sender->state, controller) < before ? tcp->packets_out : 0;
	apply(sk, sender, controller, next, 0);
}

static __always_inline u32 datapath_undo(struct sock *sk, const int controller)
{
	struct tcp_sock *tcp = tcp_of(sk);
	struct sender *sender = sender_of(sk, controller);
	struct record *record;
	u64 window;

	if (!sender || !sender->started || !tcp->mss_cache)
		return tcp->snd_cwnd;
	record = record_begin(sender, RECORD_SPURIOUS);
	controller_on_spurious(&sender->state, controller);
	window = controller_window(&sender->state, controller);
	record_end(record, window);
	sender->recover_flight = 0;
	return maximum(minimum(window / tcp->mss_cache, LARGEST_WINDOW), 1);
}

/* Defines one controller under its name. Any user may choose it. */
#define CONTROLLER(NAME, KIND)                                                                                         \
	SEC("struct_ops")                                                                                              \
	void BPF_PROG(NAME##_init, struct sock *sk)                                                                    \
	{                                                                                                              \
		sender_of(sk, KIND);                                                                                   \
	}                                                                                                              \
	SEC("struct_ops")                                                                                              \
	void BPF_PROG(NAME##_release, struct sock *sk)                                                                 \
	{                                                                                                              \
		bpf_sk_storage_delete(&senders, sk);                                                                   \
	}                                                                                                              \
	SEC("struct_ops")                                                                                              \
	__u32 BPF_PROG(NAME##_ssthresh, struct sock *sk)                                                               \
	{                                                                                                              \
		return tcp_of(sk)->snd_ssthresh;                                                                       \
	}                                                                                                              \
	SEC("struct_ops")                                                                                              \
	void BPF_PROG(NAME##_set_state, struct sock *sk, __u8 state)                                                   \
	{                                                                                                              \
		datapath_state(sk, state, KIND);                                                                       \
	}                                                                                                              \
	SEC("struct_ops")                                                                                              \
	void BPF_PROG(NAME##_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *sample)          \
	{                                                                                                              \
		datapath_ack(sk, flag, sample, KIND);                                                                  \
	}                                                                                                              \
	SEC("struct_ops")                                                                                              \
	__u32 BPF_PROG(NAME##_undo, struct sock *sk)                                                                   \
	{                                                                                                              \
		return datapath_undo(sk, KIND);                                                                        \
	}                                                                                                              \
	SEC(".struct_ops.link")                                                                                        \
	struct tcp_congestion_ops NAME = {                                                                             \
		.init = (void *)NAME##_init,                                                                           \
		.release = (void *)NAME##_release,                                                                     \
		.ssthresh = (void *)NAME##_ssthresh,                                                                   \
		.set_state = (void *)NAME##_set_state,                                                                 \
		.cong_control = (void *)NAME##_control,                                                                \
		.undo_cwnd = (void *)NAME##_undo,                                                                      \
		.flags = TCP_CONG_NON_RESTRICTED,                                                                      \
		.name = #NAME,                                                                                         \
	}
