/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * airpath_easy.h: the table of airpath_controller.h for a controller of one struct and three functions.
 *
 *     AIRPATH_EASY(title, type, start, ack, congestion)
 *     AIRPATH_EASY_WITH(title, type, start, ack, congestion, parameters)
 *
 *     void start(type *, const struct airpath_connection *, struct airpath_control *)
 *     void ack(type *, const struct airpath_ack *, struct airpath_control *)
 *     void congestion(type *, const struct airpath_congestion *, struct airpath_control *)
 *
 * `type` is zero before `start`. A function that sets control->error to a text fails, which ends the run.
 * `parameters` is an array of struct airpath_parameter; AIRPATH_EASY_NUMBER, AIRPATH_EASY_INTEGER and
 * AIRPATH_EASY_TIME make entries, also for the components of airpath_components.h.
 * connection->values has their values in the same order.
 */
#ifndef AIRPATH_EASY_H
#define AIRPATH_EASY_H

#include <stdlib.h>

#include "airpath_controller.h"

/* A number from `least_` to `most_`; every number if both are equal. */
#define AIRPATH_EASY_NUMBER(name_, help_, default_, least_, most_) \
	{ .size = sizeof(struct airpath_parameter), .kind = AIRPATH_NUMBER, .name = (name_), .help = (help_), \
	  .initial = { .number = (default_) }, .least = (least_), .most = (most_) }
/* An integer from `least_` to `most_`; every integer if both are equal. */
#define AIRPATH_EASY_INTEGER(name_, help_, default_, least_, most_) \
	{ .size = sizeof(struct airpath_parameter), .kind = AIRPATH_INTEGER, .name = (name_), .help = (help_), \
	  .initial = { .integer = (default_) }, .least = (least_), .most = (most_) }
/* A time; the default is in nanoseconds. */
#define AIRPATH_EASY_TIME(name_, help_, default_) \
	{ .size = sizeof(struct airpath_parameter), .kind = AIRPATH_TIME, .name = (name_), .help = (help_), \
	  .initial = { .integer = (default_) } }

#define AIRPATH_EASY(title_, type, start, ack, congestion) \
	AIRPATH_EASY_TABLE(title_, type, start, ack, congestion, NULL, 0)

#define AIRPATH_EASY_WITH(title_, type, start, ack, congestion, parameters_) \
	AIRPATH_EASY_TABLE(title_, type, start, ack, congestion, parameters_, \
			   sizeof(parameters_) / sizeof((parameters_)[0]))

#define AIRPATH_EASY_TABLE(title_, type, start, ack, congestion, parameters_, count_) \
	static void *airpath_easy_create(const struct airpath_connection *connection, struct airpath_control *control) \
	{ \
		type *instance = calloc(1, sizeof(type)); \
		if (instance) \
			start(instance, connection, control); \
		else \
			control->error = "no memory"; \
		if (control->error) { \
			free(instance); \
			return NULL; \
		} \
		return instance; \
	} \
	static int airpath_easy_on_ack(void *instance, const struct airpath_ack *event, struct airpath_control *control) \
	{ \
		ack(instance, event, control); \
		return control->error != NULL; \
	} \
	static int airpath_easy_on_congestion(void *instance, const struct airpath_congestion *event, \
					      struct airpath_control *control) \
	{ \
		congestion(instance, event, control); \
		return control->error != NULL; \
	} \
	AIRPATH_EXPORT const struct airpath_controller *airpath_controller(uint32_t host_abi) \
	{ \
		static const struct airpath_controller table = { \
			.size = sizeof(table), \
			.abi = AIRPATH_ABI, \
			.title = (title_), \
			.description = (title_), \
			.parameters = (parameters_), \
			.parameter_count = (count_), \
			.create = airpath_easy_create, \
			.destroy = free, \
			.on_ack = airpath_easy_on_ack, \
			.on_congestion = airpath_easy_on_congestion, \
		}; \
		(void)host_abi; \
		return &table; \
	}

#endif
