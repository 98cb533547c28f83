/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a module declared when the library was loaded, and what it registered. */
#ifndef AIRPATH_PARAMETERS_H
#define AIRPATH_PARAMETERS_H

#include "airpath/kernel.h"
#include "airpath_controller.h"

#define AIRPATH_MOST_PARAMETERS 64
#define AIRPATH_MOST_TYPES 8

struct airpath_module {
	struct airpath_module_parameter *parameters;
	int (*inits[AIRPATH_MOST_TYPES])(void);
	struct tcp_congestion_ops *types[AIRPATH_MOST_TYPES];
	u32 init_count, type_count;
};
extern struct airpath_module airpath_module;

/* What the kernel around a module is like: parameters, too. */
struct airpath_settings {
	u64 uptime_ns, isn, min_rto_ns, gso_max_size;
	bool slow_start_after_idle, in_ack_event_first, pacing;
};
extern struct airpath_settings airpath_settings;

/* Fills a list of AIRPATH_MOST_PARAMETERS entries; returns how many there are. */
u32 airpath_declare_parameters(struct airpath_parameter *list);
/* Sets all parameters and calls the init functions of the module; returns a problem, or NULL. Once for each copy. */
const char *airpath_apply_parameters(const struct airpath_value *values);

#endif
