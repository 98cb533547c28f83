/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Replaces the headers of picoquic for its congestion control files: what these use of a connection and its path, under
 * picoquic's names. If a file uses anything else, the compiler names it. Times are microseconds, amounts bytes, rates
 * bytes per second.
 */
#ifndef PICOQUIC_INTERNAL_H
#define PICOQUIC_INTERNAL_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PICOQUIC_MAX_PACKET_SIZE 1536
#define PICOQUIC_CWIN_INITIAL (10 * PICOQUIC_MAX_PACKET_SIZE)
#define PICOQUIC_CWIN_MINIMUM (2 * PICOQUIC_MAX_PACKET_SIZE)
#define PICOQUIC_INITIAL_RTT 250000ull
#define PICOQUIC_TARGET_RENO_RTT 100000ull
#define PICOQUIC_TARGET_SATELLITE_RTT 610000ull
#define PICOQUIC_BANDWIDTH_TIME_INTERVAL_MIN 1000
#define PICOQUIC_MAX_BANDWIDTH_TIME_INTERVAL_MIN 1000
#define PICOQUIC_MAX_BANDWIDTH_TIME_INTERVAL_MAX 15000
#define PICOQUIC_MINRTT_MARGIN 128
#define PICOQUIC_MINRTT_THRESHOLD 128
#define PICOQUIC_BYTES_FROM_RATE(microseconds, rate) ((uint64_t)(microseconds) * (uint64_t)(rate) / 1000000ull)
#define PICOQUIC_RATE_FROM_BYTES(bytes, microseconds) ((uint64_t)(bytes) * 1000000ull / (uint64_t)(microseconds))

#define PICOQUIC_CC_ALGO_NUMBER_NEW_RENO 1
#define PICOQUIC_CC_ALGO_NUMBER_CUBIC 2
#define PICOQUIC_CC_ALGO_NUMBER_DCUBIC 3
#define PICOQUIC_CC_ALGO_NUMBER_FAST 4
#define PICOQUIC_CC_ALGO_NUMBER_BBR 5
#define PICOQUIC_CC_ALGO_NUMBER_PRAGUE 6
#define PICOQUIC_CC_ALGO_NUMBER_BBR1 7
#define PICOQUIC_CC_ALGO_NUMBER_C4 8

#define PICOQUIC_ECN_ECT_0 2
#define PICOQUIC_ECN_ECT_1 1

#define UNUSED(name) name __attribute__((unused))
#define DBG_PRINTF(...) ((void)0)

typedef enum { picoquic_state_client_ready_start = 12, picoquic_state_ready = 14 } picoquic_state_enum;
typedef enum { picoquic_packet_context_application, picoquic_nb_packet_context } picoquic_packet_context_enum;

typedef enum {
	picoquic_congestion_notification_acknowledgement,
	picoquic_congestion_notification_repeat,
	picoquic_congestion_notification_timeout,
	picoquic_congestion_notification_spurious_repeat,
	picoquic_congestion_notification_rtt_measurement,
	picoquic_congestion_notification_ecn_ec,
	picoquic_congestion_notification_cwin_blocked,
	picoquic_congestion_notification_seed_cwin,
	picoquic_congestion_notification_reset,
	picoquic_congestion_notification_lost_feedback,
	picoquic_congestion_notification_restart_from_idle
} picoquic_congestion_notification_t;

typedef struct st_picoquic_quic_t {
	int use_predictable_random;
} picoquic_quic_t;

typedef struct st_picoquic_packet_t {
	uint64_t sequence_number;
	uint64_t send_time;
} picoquic_packet_t;

typedef struct st_picoquic_packet_context_t {
	uint64_t send_sequence;            /* the number of the next packet */
	uint64_t highest_acknowledged;
	uint64_t latest_time_acknowledged; /* when that packet was sent */
	picoquic_packet_t *pending_first;  /* the oldest packet that is out */
	uint64_t ecn_ect0_total_remote, ecn_ect1_total_remote, ecn_ce_total_remote; /* packets */
} picoquic_packet_context_t;

typedef struct st_picoquic_pacing_t {
	uint64_t rate, rate_max, quantum_max, packet_time_microsec;
	unsigned int bandwidth_pause;
} picoquic_pacing_t;

struct st_picoquic_cnx_t;

typedef struct st_picoquic_path_t {
	struct st_picoquic_cnx_t *cnx;
	void *congestion_alg_state;
	uint64_t unique_path_id, cwin, bytes_in_transit, delivered, delivered_last_packet, total_bytes_lost, nb_retransmit;
	uint64_t rtt_sample, rtt_min, rtt_max, rtt_variant, smoothed_rtt, one_way_delay_sample, retransmit_timer;
	uint64_t bandwidth_estimate, bandwidth_estimate_max, peak_bandwidth_estimate, receive_rate_max;
	uint64_t ecn_ect0_total_remote, ecn_ect1_total_remote, ecn_ce_total_remote;
	uint64_t last_sender_limited_time, last_time_acked_data_frame_sent;
	size_t send_mtu;
	unsigned int last_bw_estimate_path_limited, is_ssthresh_initialized, is_cc_data_updated, is_cca_probing_up;
	picoquic_packet_context_t pkt_ctx;
	picoquic_pacing_t pacing;
} picoquic_path_t;

typedef struct st_picoquic_cnx_t {
	picoquic_quic_t *quic;
	picoquic_path_t *path[1];
	picoquic_packet_context_t pkt_ctx[picoquic_nb_packet_context];
	picoquic_state_enum cnx_state;
	unsigned int is_multipath_enabled, is_time_stamp_enabled, client_mode, cwin_blocked;
	unsigned int is_lost_feedback_notification_required;
} picoquic_cnx_t;

typedef struct st_picoquic_per_ack_state_t {
	uint64_t rtt_measurement, send_delay, one_way_delay;
	uint64_t nb_bytes_acknowledged, nb_bytes_newly_lost, nb_loss_ranges_newly_lost;
	uint64_t nb_bytes_lost_since_packet_sent, nb_bytes_delivered_since_packet_sent, inflight_prior;
	uint64_t lost_packet_number, lost_packet_sent_time;
	picoquic_packet_context_enum pc;
	unsigned int is_app_limited, is_cwnd_limited;
} picoquic_per_ack_state_t;

typedef struct st_picoquic_congestion_algorithm_t {
	char const *congestion_algorithm_id;
	uint8_t congestion_algorithm_number;
	uint8_t ecn_mark;
	void (*alg_init)(picoquic_path_t *path, char const *options, uint64_t now);
	void (*alg_notify)(picoquic_cnx_t *cnx, picoquic_path_t *path, picoquic_congestion_notification_t notification,
			   picoquic_per_ack_state_t *ack_state, uint64_t now);
	void (*alg_delete)(picoquic_path_t *path);
	void (*alg_observe)(picoquic_path_t *path, uint64_t *state, uint64_t *parameter);
} picoquic_congestion_algorithm_t;

uint64_t picoquic_test_uniform_random(uint64_t *state, uint64_t below);
void picoquic_log_app_message(picoquic_cnx_t *cnx, const char *format, ...);
void picoquic_update_pacing_data(picoquic_path_t *path, int slow_start);
void picoquic_update_pacing_rate(picoquic_path_t *path, double rate, uint64_t quantum);

#endif
