/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rules of Reno in whole packets, the size of bursts, and the windowed maximum. */
#include "airpath/kernel.h"

/* One packet for each that was acknowledged, up to the threshold. Returns what is left for congestion avoidance. */
u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 room = tp->snd_ssthresh > tp->snd_cwnd ? tp->snd_ssthresh - tp->snd_cwnd : 0;
	u32 growth = min(acked, room);

	tcp_snd_cwnd_set(tp, min(tp->snd_cwnd + growth, tp->snd_cwnd_clamp));
	return acked - growth;
}

/* One packet for each `window` acknowledged. Credit from a time with a larger `window` adds one packet, not many. */
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 window, u32 acked)
{
	u32 grown = tp->snd_cwnd;

	window = window ? window : 1;
	if (tp->snd_cwnd_cnt >= window) {
		grown += 1;
		tp->snd_cwnd_cnt = 0;
	}
	tp->snd_cwnd_cnt += acked;
	grown += tp->snd_cwnd_cnt / window;
	tp->snd_cwnd_cnt %= window;
	tcp_snd_cwnd_set(tp, min(grown, tp->snd_cwnd_clamp));
}

void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	(void)ack;
	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

u32 tcp_reno_ssthresh(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd / 2, 2u); }

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return max(tp->snd_cwnd, tp->prior_cwnd);
}

/* Three quarters of the window, unless the threshold is higher or a reduction is in progress. */
u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return tcp_in_cwnd_reduction(sk) ? tp->snd_ssthresh
					 : max(tp->snd_ssthresh, tp->snd_cwnd / 2 + tp->snd_cwnd / 4);
}

/* The packets of a burst: about a millisecond at the pacing rate. */
u32 tcp_tso_autosize(const struct sock *sk, unsigned int mss, int min_segments)
{
	unsigned long bytes = sk->sk_pacing_rate >> sk->sk_pacing_shift;

	bytes = min_t(s64, bytes, (s64)sk->sk_gso_max_size - 1 - MAX_TCP_HEADER);
	return max_t(s64, (s64)bytes / mss, min_segments);
}

/*
 * Keeps the best value of a window and the best two after it, so that the best is known when it becomes too old. A new
 * best value replaces all three. Without a second (third) best value for a quarter (half) of the window, the newest
 * value becomes it.
 */
static u32 minmax_running(struct minmax *best, u32 window, u32 now, u32 value, bool largest)
{
	struct minmax_sample sample = { now, value }, *s = best->s;
#define AS_GOOD_AS(other) (largest ? value >= (other).v : value <= (other).v)

	if (AS_GOOD_AS(s[0]) || now - s[2].t > window)
		return minmax_reset(best, now, value);
	if (AS_GOOD_AS(s[1]))
		s[1] = s[2] = sample;
	else if (AS_GOOD_AS(s[2]))
		s[2] = sample;
	if (now - s[0].t > window) {
		s[0] = s[1];
		s[1] = s[2];
		s[2] = sample;
		if (now - s[0].t > window) {
			s[0] = s[1];
			s[1] = s[2];
		}
	} else if (s[1].t == s[0].t && now - s[0].t > window / 4) {
		s[1] = s[2] = sample;
	} else if (s[2].t == s[1].t && now - s[0].t > window / 2) {
		s[2] = sample;
	}
	return s[0].v;
}

u32 minmax_running_max(struct minmax *best, u32 window, u32 now, u32 value)
{
	return minmax_running(best, window, now, value, true);
}
u32 minmax_running_min(struct minmax *best, u32 window, u32 now, u32 value)
{
	return minmax_running(best, window, now, value, false);
}
