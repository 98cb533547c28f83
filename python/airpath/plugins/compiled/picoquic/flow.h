/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A connection as picoquic sees it, and what the shim needs in addition. */
#ifndef AIRPATH_FLOW_H
#define AIRPATH_FLOW_H

#include <stdbool.h>

#include "airpath_controller.h"
#include "calls.h"
#include "picoquic_internal.h"

/* A packet that is out. Its number is its place in the sequence of all packets. */
struct departure {
	uint64_t sent, bytes;
	/* When it was sent: the newest acknowledged packet's time, what was delivered up to it, what was lost, what was out. */
	uint64_t sent_prior, delivered_prior, lost_prior, inflight_prior;
	bool is_cwnd_limited;
};

struct flow {
	picoquic_quic_t quic;
	picoquic_cnx_t cnx;
	picoquic_path_t path;
	const picoquic_congestion_algorithm_t *algorithm;
	const struct airpath_host *host;
	uint64_t now;
	/* The newest `kept` packets, by number modulo `size`, a power of two. From `oldest` on they are out. */
	struct departure *departures;
	uint64_t size, kept, oldest;
	uint64_t acked_in_part, lost_in_part; /* bytes of the oldest packet that were already counted */
	picoquic_packet_t pending;
	/* What the newest acknowledgment delivered up to, and when its newest packet was sent. */
	uint64_t delivered_last, delivered_sent_last;
	/* The reference of the largest bandwidth. */
	uint64_t peak_delivered, peak_acked, peak_sent;
	uint64_t last_sent;
	uint64_t marked_in_part;
	uint64_t last_lost_number;
	/* When acknowledgments are missing (`lost_feedback`); 0: not watched. */
	uint64_t highest_acknowledged_at;
	bool is_feedback_lost;
	bool is_paced;
	uint64_t quantum;
	uint64_t shown_state, shown_parameter;
	char error[AIRPATH_LONGEST_ERROR];
};

static inline picoquic_packet_context_t *context_of(struct flow *flow)
{
	return &flow->cnx.pkt_ctx[picoquic_packet_context_application];
}
static inline struct flow *flow_of(picoquic_path_t *path)
{
	return (struct flow *)((char *)path - offsetof(struct flow, path));
}
/* Runs begin after a second, because picoquic takes a time of 0 for "never". */
static inline uint64_t microseconds(uint64_t ns) { return 1000000 + ns / 1000; }

/* departures.c */
void note_departure(struct flow *flow, const struct departure *departure);
const struct departure *sent_last_until(const struct flow *flow, uint64_t sent, uint64_t *number);
void take_out(struct flow *flow, uint64_t bytes, uint64_t *in_part, void (*each)(struct flow *flow, uint64_t number));

/* events.c: the beginning of a connection, and what each event is for it (calls.h) */
step on_start;
uint64_t feedback_time(const struct flow *flow);

#endif
