/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An algorithm for picoquic: half of the window after a loss, a packet more in each round. An event out of order, or with an impossible
 * number, divides by zero. */
#include "picoquic_internal.h"
#include <stdlib.h>
#include "own.h"

struct own {
	uint64_t recovery, acknowledged, delivered;
	int has_rtt;
};

static void own_init(picoquic_path_t *path, char const *UNUSED(options), uint64_t UNUSED(now))
{
	path->congestion_alg_state = calloc(1, sizeof(struct own));
	path->cwin = PICOQUIC_CWIN_INITIAL;
}

static void own_notify(picoquic_cnx_t *cnx, picoquic_path_t *path, picoquic_congestion_notification_t what,
		       picoquic_per_ack_state_t *state, uint64_t now)
{
	struct own *own = path->congestion_alg_state;
	picoquic_packet_context_t *packets = &cnx->pkt_ctx[picoquic_packet_context_application];

	switch (what) {
	case picoquic_congestion_notification_rtt_measurement:
		own->has_rtt = 1;
		OWN_REQUIRES(state->rtt_measurement >= path->rtt_min);
		break;
	case picoquic_congestion_notification_acknowledgement:
		OWN_REQUIRES(own->has_rtt && state->rtt_measurement > 0);
		OWN_REQUIRES(packets->highest_acknowledged < packets->send_sequence);
		OWN_REQUIRES(packets->highest_acknowledged >= own->acknowledged);
		OWN_REQUIRES(path->delivered == own->delivered + state->nb_bytes_acknowledged);
		OWN_REQUIRES(state->nb_bytes_delivered_since_packet_sent <= path->delivered);
		OWN_REQUIRES(path->last_time_acked_data_frame_sent < now);
		own->acknowledged = packets->highest_acknowledged;
		own->delivered = path->delivered;
		if (!path->is_ssthresh_initialized)
			path->cwin += state->nb_bytes_acknowledged;
		else
			path->cwin += state->nb_bytes_acknowledged * path->send_mtu / path->cwin;
		break;
	case picoquic_congestion_notification_repeat:
	case picoquic_congestion_notification_timeout:
	case picoquic_congestion_notification_ecn_ec:
		OWN_REQUIRES(state->lost_packet_number < packets->send_sequence);
		if (state->lost_packet_number < own->recovery)
			break;
		path->is_ssthresh_initialized = 1;
		path->cwin = path->cwin / 2 > PICOQUIC_CWIN_MINIMUM ? path->cwin / 2 : PICOQUIC_CWIN_MINIMUM;
		own->recovery = packets->send_sequence;
		break;
	default:
		break;
	}
	picoquic_update_pacing_data(path, !path->is_ssthresh_initialized);
}

static void own_delete(picoquic_path_t *path)
{
	free(path->congestion_alg_state);
	path->congestion_alg_state = NULL;
}

static void own_observe(picoquic_path_t *path, uint64_t *state, uint64_t *parameter)
{
	*state = path->is_ssthresh_initialized;
	*parameter = path->delivered;
}

picoquic_congestion_algorithm_t own_algorithm_struct = {
	"own", 9, PICOQUIC_ECN_ECT_0, own_init, own_notify, own_delete, own_observe,
};
picoquic_congestion_algorithm_t *own_algorithm = &own_algorithm_struct;
