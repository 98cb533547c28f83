/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Packets that are out. airpath reports amounts, not numbers: the oldest packets are taken for the lost and the delivered ones. */
#include <stdlib.h>

#include "fault.h"
#include "flow.h"

static struct departure *departure_of(const struct flow *flow, uint64_t number)
{
	return &flow->departures[number & (flow->size - 1)];
}

static void show_oldest(struct flow *flow)
{
	picoquic_packet_context_t *context = context_of(flow);

	if (flow->oldest == context->send_sequence) {
		context->pending_first = NULL;
		return;
	}
	flow->pending.sequence_number = flow->oldest;
	flow->pending.send_time = departure_of(flow, flow->oldest)->sent;
	context->pending_first = &flow->pending;
}

/* Adds a packet with the next number. */
void note_departure(struct flow *flow, const struct departure *departure)
{
	picoquic_packet_context_t *context = context_of(flow);

	if (context->send_sequence - flow->oldest == flow->size) {
		uint64_t size = flow->size ? 2 * flow->size : 64;
		struct departure *larger = malloc(size * sizeof(*larger));

		if (!larger)
			airpath_fault(__FILE__, __LINE__, "no memory");
		for (uint64_t number = context->send_sequence - flow->kept; number < context->send_sequence; number++)
			larger[number & (size - 1)] = *departure_of(flow, number);
		free(flow->departures);
		flow->departures = larger;
		flow->size = size;
	}
	*departure_of(flow, context->send_sequence++) = *departure;
	if (flow->kept < flow->size)
		flow->kept++;
	show_oldest(flow);
}

/* Returns the newest packet that was sent by a time, and its number; NULL if that is too long ago. Packets that were taken for lost
 * or delivered too early are found, too. */
const struct departure *sent_last_until(const struct flow *flow, uint64_t sent, uint64_t *number)
{
	uint64_t end = flow->cnx.pkt_ctx[picoquic_packet_context_application].send_sequence;
	uint64_t first = end - flow->kept, begin = first;

	while (first < end) {
		uint64_t middle = first + (end - first) / 2;

		if (departure_of(flow, middle)->sent <= sent)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == begin)
		return NULL;
	*number = first - 1;
	return departure_of(flow, first - 1);
}

/* Takes out the oldest packets, an amount of bytes in all, and calls a function with the number of each. */
void take_out(struct flow *flow, uint64_t bytes, uint64_t *in_part, void (*each)(struct flow *flow, uint64_t number))
{
	picoquic_packet_context_t *context = context_of(flow);

	*in_part += bytes;
	while (flow->oldest < context->send_sequence && *in_part >= departure_of(flow, flow->oldest)->bytes) {
		*in_part -= departure_of(flow, flow->oldest)->bytes;
		if (each)
			each(flow, flow->oldest);
		flow->oldest++;
	}
	if (flow->oldest == context->send_sequence)
		*in_part = 0;
	show_oldest(flow);
}
