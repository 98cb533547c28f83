/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions of picoquic that its congestion control files call. */
#include "flow.h"

/* Numbers that follow from the context (Vigna's splitmix64). */
uint64_t picoquic_test_uniform_random(uint64_t *context, uint64_t below)
{
	uint64_t mixed = *context += 0x9e3779b97f4a7c15ull;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ull;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
	return below ? (mixed ^ mixed >> 31) % below : 0;
}

void picoquic_log_app_message(picoquic_cnx_t *cnx, const char *format, ...)
{
	(void)cnx;
	(void)format;
}

void picoquic_update_pacing_rate(picoquic_path_t *path, double rate, uint64_t quantum)
{
	struct flow *flow = flow_of(path);
	double packet_us = rate > 0.0 ? path->send_mtu * 1e6 / rate : 1e12;

	path->pacing.rate = rate < 1.0 ? 1 : rate > 1e14 ? 100000000000000ull : (uint64_t)rate;
	if (path->pacing.rate > path->pacing.rate_max)
		path->pacing.rate_max = path->pacing.rate;
	if (quantum > path->pacing.quantum_max)
		path->pacing.quantum_max = quantum;
	if (packet_us > path->smoothed_rtt)
		packet_us = path->smoothed_rtt;
	path->pacing.packet_time_microsec = packet_us < 1.0 ? 1 : (uint64_t)packet_us;
	flow->is_paced = true;
	flow->quantum = quantum;
}

/* Pacing by window and round-trip time; small windows are not paced. */
void picoquic_update_pacing_data(picoquic_path_t *path, int slow_start)
{
	uint64_t least = 2 * path->send_mtu, quantum = path->cwin / 4;
	double rate;

	if (path->cwin < 8 * path->send_mtu || path->smoothed_rtt <= 1) {
		path->pacing.packet_time_microsec = 1;
		flow_of(path)->is_paced = false;
		return;
	}
	rate = path->cwin * 1e6 / path->smoothed_rtt;
	if (quantum < least) {
		quantum = least;
	} else if (slow_start && path->smoothed_rtt > 4 * PICOQUIC_MAX_BANDWIDTH_TIME_INTERVAL_MAX) {
		uint64_t larger = rate * PICOQUIC_MAX_BANDWIDTH_TIME_INTERVAL_MAX / 1e6;

		if (quantum < 0x8000)
			quantum = 0x8000;
		else if (larger > quantum)
			quantum = larger;
	} else if (quantum > 16 * path->send_mtu) {
		quantum = 16 * path->send_mtu;
	}
	picoquic_update_pacing_rate(path, slow_start ? 1.25 * rate : rate, quantum);
}
