/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parameters of a module, and those of the kernel around it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parameters.h"

struct airpath_module airpath_module;
struct airpath_settings airpath_settings;
int airpath_hz = 250;

/* ---- What a module declares ------------------------------------------------------------------------------- */

void airpath_announce_parameter(struct airpath_module_parameter *parameter)
{
	struct airpath_module_parameter **end = &airpath_module.parameters;

	while (*end)
		end = &(*end)->next;
	*end = parameter;
}

void airpath_describe_parameter(const char *name, const char *description)
{
	for (struct airpath_module_parameter *p = airpath_module.parameters; p; p = p->next)
		if (!strcmp(p->name, name))
			p->description = description;
}

void airpath_announce_init(int (*init)(void))
{
	if (airpath_module.init_count < AIRPATH_MOST_TYPES)
		airpath_module.inits[airpath_module.init_count++] = init;
}

int tcp_register_congestion_control(struct tcp_congestion_ops *type)
{
	if (!type->ssthresh || !type->undo_cwnd || !(type->cong_avoid || type->cong_control))
		return -EINVAL;
	if (airpath_module.type_count == AIRPATH_MOST_TYPES)
		return -ENOMEM;
	airpath_module.types[airpath_module.type_count++] = type;
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *type) { (void)type; }

/* ---- Types of parameters ---------------------------------------------------------------------------------- */

/* Name, type in C, least and most value. */
#define AIRPATH_INTEGERS(each)                                                                                         \
	each("int", int, INT_MIN, INT_MAX) each("uint", unsigned int, 0, UINT_MAX)                                     \
	each("short", short, SHRT_MIN, SHRT_MAX) each("ushort", unsigned short, 0, USHRT_MAX)                          \
	each("byte", u8, 0, 255) each("long", long, LONG_MIN, LONG_MAX) each("ulong", unsigned long, 0, LONG_MAX)
#define AIRPATH_IS_BOOL(p) (!strcmp((p)->type, "bool"))
/* Those with functions of their own are declared as unsigned; the functions know the range. */
#define AIRPATH_TYPE(p) ((p)->ops ? "uint" : (p)->type)

static int parse(const char *text, long long least, long long most, long long *value)
{
	char *end;

	*value = strtoll(text, &end, 0);
	if (end == text || *end)
		return -EINVAL;
	return *value < least || *value > most ? -ERANGE : 0;
}

int kstrtoint(const char *text, unsigned int base, int *value)
{
	long long parsed;
	int error = parse(text, INT_MIN, INT_MAX, &parsed);

	(void)base;
	*value = error ? *value : (int)parsed;
	return error;
}

int kstrtouint(const char *text, unsigned int base, unsigned int *value)
{
	long long parsed;
	int error = parse(text, 0, UINT_MAX, &parsed);

	(void)base;
	*value = error ? *value : (unsigned int)parsed;
	return error;
}

int param_set_uint_minmax(const char *text, const struct kernel_param *param, unsigned int low, unsigned int high)
{
	long long parsed;
	int error = parse(text, low, high, &parsed);

	if (!error)
		*(unsigned int *)param->arg = parsed;
	return error == -ERANGE ? -EINVAL : error;
}

int param_set_uint(const char *text, const struct kernel_param *param) { return kstrtouint(text, 0, param->arg); }
int param_set_int(const char *text, const struct kernel_param *param) { return kstrtoint(text, 0, param->arg); }
int param_get_uint(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%u", *(unsigned int *)param->arg);
}
int param_get_int(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%d", *(int *)param->arg);
}

/* Declares a parameter with the value that the source gives it; whether its type is known. */
static bool declare(const struct airpath_module_parameter *p, struct airpath_parameter *entry)
{
	*entry = (struct airpath_parameter){
		.size = sizeof(*entry), .kind = AIRPATH_INTEGER, .name = p->name,
		.help = p->description ? p->description : "parameter of the module",
	};
	if (AIRPATH_IS_BOOL(p)) {
		entry->kind = AIRPATH_BOOL;
		entry->initial.integer = *(bool *)p->place;
		return true;
	}
#define AIRPATH_DECLARE(called, ctype, low, high)                                                                      \
	if (!strcmp(AIRPATH_TYPE(p), called)) {                                                                        \
		entry->initial.integer = *(ctype *)p->place;                                                           \
		entry->least = (double)(low);                                                                          \
		entry->most = (double)(high);                                                                          \
		return true;                                                                                           \
	}
	AIRPATH_INTEGERS(AIRPATH_DECLARE)
	return false;
}

/* Sets a parameter; returns 0 or an error number of the kernel. */
static int set(const struct airpath_module_parameter *p, s64 value)
{
	if (p->ops) {
		const struct kernel_param param = { p->name, p->ops, p->place };
		char text[24];

		snprintf(text, sizeof(text), "%lld", value);
		return p->ops->set(text, &param);
	}
	if (AIRPATH_IS_BOOL(p))
		*(bool *)p->place = value;
#define AIRPATH_SET(called, ctype, low, high)                                                                          \
	if (!strcmp(p->type, called))                                                                                  \
		*(ctype *)p->place = value;
	AIRPATH_INTEGERS(AIRPATH_SET)
	return 0;
}

/* ---- The kernel around the module ------------------------------------------------------------------------- */

static const struct airpath_parameter settings[] = {
	{ .kind = AIRPATH_INTEGER, .name = "hz", .initial.integer = 250, .least = 100, .most = 1000,
	  .help = "ticks of the kernel's clock in a second" },
	{ .kind = AIRPATH_TIME, .name = "uptime", .initial.integer = 1000000000000, .flags = AIRPATH_ABOVE_LEAST,
	  .help = "age of the machine when the run begins, from which its clocks follow" },
	{ .kind = AIRPATH_INTEGER, .name = "isn", .initial.integer = 1, .least = 0, .most = 4294967295.0,
	  .help = "first sequence number" },
	{ .kind = AIRPATH_BOOL, .name = "slow_start_after_idle", .initial.integer = 1,
	  .help = "reduce the window after an idle time longer than the retransmission timeout" },
	{ .kind = AIRPATH_BOOL, .name = "in_ack_event_first", .initial.integer = 0,
	  .help = "call in_ack_event before pkts_acked, as before Linux 6.15 and its backports of 2025" },
	{ .kind = AIRPATH_SIZE, .name = "gso_max_size", .initial.integer = 65536, .flags = AIRPATH_ABOVE_LEAST,
	  .help = "the largest burst" },
	{ .kind = AIRPATH_TIME, .name = "min_rto", .initial.integer = 200000000, .flags = AIRPATH_ABOVE_LEAST,
	  .help = "the least retransmission timeout, after which slow_start_after_idle applies" },
	{ .kind = AIRPATH_BOOL, .name = "pacing", .initial.integer = 0,
	  .help = "pace every connection at the kernel's rate, as the queue discipline fq does" },
};

static void apply_settings(const struct airpath_value *values)
{
	airpath_hz = values[0].integer;
	airpath_settings = (struct airpath_settings){
		.uptime_ns = values[1].integer,
		.isn = values[2].integer,
		.slow_start_after_idle = values[3].integer,
		.in_ack_event_first = values[4].integer,
		.gso_max_size = min_t(u64, values[5].integer, U32_MAX),
		.min_rto_ns = values[6].integer,
		.pacing = values[7].integer,
	};
}

/* ---- Both ------------------------------------------------------------------------------------------------- */

u32 airpath_declare_parameters(struct airpath_parameter *list)
{
	u32 count = 0;

	for (size_t k = 0; k < ARRAY_SIZE(settings); k++) {
		list[count] = settings[k];
		list[count++].size = sizeof(*list);
	}
	for (const struct airpath_module_parameter *p = airpath_module.parameters; p; p = p->next)
		if (count < AIRPATH_MOST_PARAMETERS && declare(p, &list[count]))
			count++;
	return count;
}

const char *airpath_apply_parameters(const struct airpath_value *values)
{
	static _Thread_local char text[128];
	struct airpath_parameter ignored;
	int error = 0;

	apply_settings(values);
	values += ARRAY_SIZE(settings);
	for (const struct airpath_module_parameter *p = airpath_module.parameters; p; p = p->next) {
		if (!declare(p, &ignored))
			continue;
		error = set(p, values->integer);
		if (error) {
			snprintf(text, sizeof(text), "%s: the module refuses %lld (error %d)", p->name,
				 (long long)values->integer, -error);
			return text;
		}
		values++;
	}
	/* Parameters come first: some modules compute constants from them. */
	for (u32 k = 0; k < airpath_module.init_count; k++) {
		error = airpath_module.inits[k]();
		if (error) {
			snprintf(text, sizeof(text), "the init function of the module returned %d", error);
			return text;
		}
	}
	return airpath_module.type_count ? NULL : "the module registers no congestion control";
}
