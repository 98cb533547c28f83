// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Passes events to one instance of a library and prints its answers.
 *
 *     drive LIBRARY [PARAMETER=INTEGER...] < EVENTS
 *
 * An event is a line of a word and integers (the structs below, in packets of 1000 bytes and milliseconds). An answer
 * is a line: window and threshold in packets (-1: none), the timer in milliseconds (-1: none), and the last recorded
 * value of the quantity module_alpha times 1024.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "airpath_controller.h"

#define PACKET 1000
#define MS 1000000ull
#define ALPHA 5

static double alpha;

static void record(void *context, uint32_t quantity, double value)
{
	if (quantity == ALPHA)
		alpha = value;
}

static void read_values(const struct airpath_controller *table, struct airpath_value *values, int count, char **given)
{
	for (uint32_t k = 0; k < table->parameter_count; k++) {
		values[k] = table->parameters[k].initial;
		for (int g = 0; g < count; g++) {
			const char *name = table->parameters[k].name, *value = strchr(given[g], '=');

			if (!strncmp(given[g], name, strlen(name)) && value == given[g] + strlen(name))
				values[k].integer = atoll(value + 1);
		}
	}
}

int main(int count, char **words)
{
	void *library = dlopen(words[1], RTLD_NOW);
	const struct airpath_controller *(*entry)(uint32_t);
	struct airpath_value values[64];
	struct airpath_host host = { .size = sizeof(host), .record = record };
	struct airpath_connection connection = {
		.size = sizeof(connection), .mss = PACKET, .initial_window = 10 * PACKET, .values = values, .host = &host,
	};
	struct airpath_control control = {
		.size = sizeof(control), .window = 10 * PACKET, .quantum = 2 * PACKET,
		.ssthresh = AIRPATH_NEVER, .next_timer = AIRPATH_NEVER,
	};
	char word[16];
	long long now, a, b, c, d, flags, rtt;
	void *instance;

	if (!library || !(*(void **)&entry = dlsym(library, "airpath_controller"))) {
		printf("%s\n", dlerror());
		return 1;
	}
	const struct airpath_controller *table = entry(AIRPATH_ABI);

	read_values(table, values, count - 2, words + 2);
	instance = table->create(&connection, &control);
	if (!instance) {
		printf("create: %s\n", control.error);
		return 1;
	}
	while (scanf("%15s %lld %lld %lld %lld %lld %lld %lld", word, &now, &a, &b, &c, &d, &flags, &rtt) == 8) {
		struct airpath_rtt all = { rtt * MS, rtt * MS, rtt * MS / 2, rtt * MS };
		int failed = 0;

		if (!strcmp(word, "sent")) { /* payload, in flight */
			struct airpath_sent e = { .size = sizeof(e), .flags = flags, .now = now * MS, .payload = a * PACKET,
						  .in_flight = b * PACKET, .rtt = all, .mss = PACKET };
			failed = table->on_sent(instance, &e, &control);
		} else if (!strcmp(word, "ack")) { /* acked, advance, newly lost, in flight */
			struct airpath_ack e = { .size = sizeof(e), .flags = flags, .now = now * MS, .acked = a * PACKET,
						 .advance = b * PACKET, .newly_lost = c * PACKET, .in_flight = d * PACKET,
						 .in_flight_before = (d + a + c) * PACKET, .rtt_sample = rtt * MS,
						 .rtt = all, .mss = PACKET };
			control.next_timer = AIRPATH_NEVER;
			failed = table->on_ack(instance, &e, &control);
		} else if (!strcmp(word, "signal")) { /* which, lost, consecutive */
			struct airpath_congestion e = { .size = sizeof(e), .now = now * MS, .signal = a, .lost = b * PACKET,
							.consecutive = c, .rtt = all, .mss = PACKET };
			failed = table->on_congestion(instance, &e, &control);
		} else if (!strcmp(word, "spurious")) {
			failed = table->on_spurious(instance, now * MS, &control);
		} else {
			control.next_timer = AIRPATH_NEVER;
			failed = table->on_timer(instance, now * MS, &control);
		}
		if (failed) {
			printf("%s: %s\n", word, control.error);
			return 1;
		}
		printf("%lld %lld %lld %.0f\n", (long long)control.window / PACKET,
		       control.ssthresh == AIRPATH_NEVER ? -1 : (long long)control.ssthresh / PACKET,
		       control.next_timer == AIRPATH_NEVER ? -1 : (long long)(control.next_timer / MS), 1024 * alpha);
	}
	table->destroy(instance);
	return 0;
}
