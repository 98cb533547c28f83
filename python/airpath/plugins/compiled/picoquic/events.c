/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What each event of airpath is for a congestion control file of picoquic, in picoquic's order. */
#include <string.h>

#include "flow.h"

/* The delay of acknowledgments that picoquic asks its peer for. */
#define ACK_DELAY 25000
/* A connection that was silent for this long starts anew. */
#define LEAST_SILENCE 1000000

typedef picoquic_congestion_notification_t notification;

static void notify(struct flow *flow, notification what, picoquic_per_ack_state_t *state)
{
	flow->algorithm->alg_notify(&flow->cnx, &flow->path, what, state, flow->now);
}

/* ---- Round trips and rates --------------------------------------------------------------------------------- */

static void take_rtt(struct flow *flow, uint64_t sample_ns, const struct airpath_rtt *rtt)
{
	picoquic_path_t *path = &flow->path;
	picoquic_per_ack_state_t state = { 0 };

	path->rtt_sample = sample_ns / 1000;
	path->smoothed_rtt = rtt->smoothed / 1000;
	path->rtt_variant = rtt->variation / 1000;
	/* A file may have raised it. */
	if (!path->rtt_min || path->rtt_sample < path->rtt_min)
		path->rtt_min = path->rtt_sample;
	if (path->rtt_sample > path->rtt_max)
		path->rtt_max = path->rtt_sample;
	path->retransmit_timer = path->smoothed_rtt + 3 * path->rtt_variant + ACK_DELAY;
	state.rtt_measurement = path->rtt_sample;
	notify(flow, picoquic_congestion_notification_rtt_measurement, &state);
}

static void take_rate(struct flow *flow, const struct airpath_ack *ack)
{
	picoquic_path_t *path = &flow->path;
	uint64_t interval = ack->rate_interval / 1000;

	if (!(ack->flags & AIRPATH_ACK_RATE_SAMPLE) || interval <= PICOQUIC_BANDWIDTH_TIME_INTERVAL_MIN)
		return;
	path->bandwidth_estimate = PICOQUIC_RATE_FROM_BYTES(ack->rate_delivered, interval);
	if (path->bandwidth_estimate > path->bandwidth_estimate_max)
		path->bandwidth_estimate_max = path->bandwidth_estimate;
	path->last_bw_estimate_path_limited = !!(ack->flags & AIRPATH_ACK_APP_LIMITED);
}

/* The largest rate between acknowledgments at least a millisecond apart. */
static void take_peak_rate(struct flow *flow, uint64_t sent)
{
	picoquic_path_t *path = &flow->path;
	uint64_t interval, rate;

	if (sent < flow->peak_sent)
		return;
	if (flow->peak_sent) {
		interval = flow->now - flow->peak_acked;
		if (interval <= PICOQUIC_MAX_BANDWIDTH_TIME_INTERVAL_MIN)
			return;
		if (sent - flow->peak_sent > interval)
			interval = sent - flow->peak_sent;
		rate = PICOQUIC_RATE_FROM_BYTES(path->delivered - flow->peak_delivered, interval);
		if (rate > path->peak_bandwidth_estimate)
			path->peak_bandwidth_estimate = rate;
	}
	flow->peak_delivered = path->delivered;
	flow->peak_acked = flow->now;
	flow->peak_sent = sent;
}

/* ---- Losses and marks -------------------------------------------------------------------------------------- */

static void count_loss(struct flow *flow, uint64_t number)
{
	flow->path.total_bytes_lost += flow->departures[number & (flow->size - 1)].bytes;
}

static void report_loss(struct flow *flow, uint64_t number, notification what)
{
	const struct departure *lost = &flow->departures[number & (flow->size - 1)];
	picoquic_path_t *path = &flow->path;
	picoquic_per_ack_state_t state = { 0 };

	count_loss(flow, number);
	flow->last_lost_number = number;
	state.rtt_measurement = path->rtt_sample;
	state.lost_packet_number = number;
	state.lost_packet_sent_time = lost->sent;
	state.nb_bytes_newly_lost = lost->bytes;
	state.nb_bytes_lost_since_packet_sent = path->total_bytes_lost - lost->lost_prior;
	state.nb_bytes_delivered_since_packet_sent = path->delivered - lost->delivered_prior;
	state.inflight_prior = lost->inflight_prior;
	state.is_cwnd_limited = lost->is_cwnd_limited;
	notify(flow, what, &state);
}

static void report_repeat(struct flow *flow, uint64_t number)
{
	report_loss(flow, number, picoquic_congestion_notification_repeat);
}

static void report_timeout(struct flow *flow, uint64_t number)
{
	report_loss(flow, number, picoquic_congestion_notification_timeout);
}

static void take_marks(struct flow *flow, const struct airpath_ack *ack, uint64_t newest)
{
	picoquic_packet_context_t *context = context_of(flow);
	picoquic_path_t *path = &flow->path;
	picoquic_per_ack_state_t state = { 0 };
	uint64_t arrived = (ack->acked + ack->mss - 1) / ack->mss, marked;

	/* Without counts, an echo is one mark. */
	flow->marked_in_part += ack->marked;
	marked = flow->marked_in_part / ack->mss;
	flow->marked_in_part -= marked * ack->mss;
	if (!ack->marked && ack->flags & AIRPATH_ACK_CONGESTION_EXPERIENCED)
		marked = 1;
	if (marked > arrived)
		marked = arrived;
	context->ecn_ect1_total_remote += arrived - marked;
	path->ecn_ect1_total_remote += arrived - marked;
	context->ecn_ce_total_remote += marked;
	path->ecn_ce_total_remote += marked;
	if (marked) {
		state.lost_packet_number = newest;
		notify(flow, picoquic_congestion_notification_ecn_ec, &state);
	}
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

void on_start(struct flow *flow, const void *event)
{
	const struct airpath_connection *connection = event;
	struct airpath_rtt rtt = { .smoothed = connection->handshake_rtt, .variation = connection->handshake_rtt / 2 };

	flow->algorithm->alg_init(&flow->path, NULL, flow->now);
	if (connection->handshake_rtt)
		take_rtt(flow, connection->handshake_rtt, &rtt);
}

void on_ack(struct flow *flow, const void *event)
{
	const struct airpath_ack *ack = event;
	picoquic_packet_context_t *context = context_of(flow);
	picoquic_path_t *path = &flow->path;
	picoquic_per_ack_state_t state = { 0 };
	uint64_t newest = context->highest_acknowledged;
	const struct departure *found = NULL;
	struct departure departure = { 0 };

	if (ack->flags & AIRPATH_ACK_LATEST_SENT)
		found = sent_last_until(flow, microseconds(ack->latest_sent_at), &newest);
	if (found) {
		departure = *found;
		if (newest > context->highest_acknowledged || context->highest_acknowledged == UINT64_MAX) {
			context->highest_acknowledged = newest;
			context->latest_time_acknowledged = departure.sent;
			path->last_time_acked_data_frame_sent = departure.sent;
			flow->highest_acknowledged_at = flow->now;
		}
	}
	if (ack->acked) {
		path->nb_retransmit = 0;
		path->delivered += ack->acked;
		path->delivered_last_packet = departure.delivered_prior;
	}
	path->bytes_in_transit = ack->in_flight;
	take_marks(flow, ack, newest);
	if (ack->flags & AIRPATH_ACK_RTT_SAMPLE)
		take_rtt(flow, ack->rtt_sample, &ack->rtt);
	take_rate(flow, ack);
	if (found)
		take_peak_rate(flow, departure.sent);
	take_out(flow, ack->newly_lost, &flow->lost_in_part, report_repeat);
	take_out(flow, ack->acked, &flow->acked_in_part, NULL);
	if (!ack->acked || !path->rtt_sample)
		return;
	state.rtt_measurement = path->rtt_sample;
	state.nb_bytes_acknowledged = ack->acked;
	state.nb_bytes_newly_lost = ack->newly_lost;
	state.nb_loss_ranges_newly_lost = ack->newly_lost > 0;
	if (found) {
		state.send_delay = departure.sent - departure.sent_prior;
		state.nb_bytes_lost_since_packet_sent = path->total_bytes_lost - departure.lost_prior;
		state.nb_bytes_delivered_since_packet_sent = path->delivered - departure.delivered_prior;
		state.inflight_prior = departure.inflight_prior;
		state.is_cwnd_limited = departure.is_cwnd_limited;
		flow->delivered_sent_last = departure.sent;
	}
	flow->delivered_last = path->delivered;
	state.is_app_limited = !!(ack->flags & AIRPATH_ACK_APP_LIMITED);
	flow->is_feedback_lost = false;
	notify(flow, picoquic_congestion_notification_acknowledgement, &state);
}

void on_congestion(struct flow *flow, const void *event)
{
	const struct airpath_congestion *congestion = event;
	uint64_t oldest;

	/* Acknowledgments report losses and marks themselves. */
	if (congestion->signal != AIRPATH_TIMEOUT)
		return;
	flow->path.nb_retransmit = congestion->consecutive;
	oldest = flow->oldest;
	if (oldest < context_of(flow)->send_sequence) {
		uint64_t bytes = flow->departures[oldest & (flow->size - 1)].bytes;

		flow->lost_in_part = 0;
		take_out(flow, bytes, &flow->lost_in_part, report_timeout);
		if (congestion->lost > bytes)
			take_out(flow, congestion->lost - bytes, &flow->lost_in_part, count_loss);
	}
}

void on_sent(struct flow *flow, const void *event)
{
	const struct airpath_sent *sent = event;
	picoquic_path_t *path = &flow->path;
	picoquic_per_ack_state_t state = { 0 };
	uint64_t silence = path->retransmit_timer > LEAST_SILENCE ? path->retransmit_timer : LEAST_SILENCE;
	struct departure departure = {
		.sent = flow->now,
		.bytes = sent->payload,
		.sent_prior = flow->delivered_sent_last,
		.delivered_prior = flow->delivered_last,
		.lost_prior = path->total_bytes_lost,
		.inflight_prior = sent->in_flight - sent->payload,
	};

	departure.is_cwnd_limited = departure.inflight_prior + sent->payload + sent->mss > path->cwin;
	if (sent->flags & AIRPATH_SENT_APP_LIMITED) {
		path->last_sender_limited_time = flow->now;
		state.is_app_limited = 1;
		if (!departure.inflight_prior && flow->last_sent && flow->now > flow->last_sent + silence)
			notify(flow, picoquic_congestion_notification_restart_from_idle, &state);
	}
	flow->last_sent = flow->now;
	path->bytes_in_transit = sent->in_flight;
	note_departure(flow, &departure);
	flow->cnx.cwin_blocked = departure.is_cwnd_limited;
	memset(&state, 0, sizeof(state));
	if (departure.is_cwnd_limited)
		notify(flow, picoquic_congestion_notification_cwin_blocked, &state);
}

void on_spurious(struct flow *flow, const void *nothing)
{
	picoquic_per_ack_state_t state = { 0 };

	(void)nothing;
	state.lost_packet_number = flow->last_lost_number;
	notify(flow, picoquic_congestion_notification_spurious_repeat, &state);
}

/* Returns when missing acknowledgments are to be reported; UINT64_MAX: not. */
uint64_t feedback_time(const struct flow *flow)
{
	const picoquic_packet_context_t *context = &flow->cnx.pkt_ctx[picoquic_packet_context_application];
	uint64_t later = 0;

	if (!flow->cnx.is_lost_feedback_notification_required || flow->is_feedback_lost || !context->pending_first ||
	    !flow->highest_acknowledged_at)
		return UINT64_MAX;
	if (context->pending_first->send_time > flow->path.last_time_acked_data_frame_sent)
		later = context->pending_first->send_time - flow->path.last_time_acked_data_frame_sent;
	return flow->highest_acknowledged_at + later + 2 * ACK_DELAY;
}

void on_timer(struct flow *flow, const void *nothing)
{
	(void)nothing;
	if (feedback_time(flow) > flow->now)
		return;
	flow->is_feedback_lost = true;
	notify(flow, picoquic_congestion_notification_lost_feedback, NULL);
}
