/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a module declares about itself: parameters, and the function that registers it. */
#ifndef AIRPATH_MODULE_H
#define AIRPATH_MODULE_H

#include "airpath/language.h"

struct module;
#define THIS_MODULE ((struct module *)0)

/* A parameter of a type of its own. */
struct kernel_param;
struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *text, const struct kernel_param *param);
	int (*get)(char *text, const struct kernel_param *param);
	void (*free)(void *arg);
};
struct kernel_param {
	const char *name;
	const struct kernel_param_ops *ops;
	void *arg;
};
int kstrtoint(const char *text, unsigned int base, int *value);
int kstrtouint(const char *text, unsigned int base, unsigned int *value);
int param_set_uint_minmax(const char *text, const struct kernel_param *param, unsigned int low, unsigned int high);
int param_set_uint(const char *text, const struct kernel_param *param);
int param_set_int(const char *text, const struct kernel_param *param);
int param_get_uint(char *text, const struct kernel_param *param);
int param_get_int(char *text, const struct kernel_param *param);

/* Constructors call these functions when the library is loaded. */
struct airpath_module_parameter {
	const char *name, *type, *description;
	void *place;
	const struct kernel_param_ops *ops; /* of a type of its own; otherwise NULL */
	struct airpath_module_parameter *next;
};
void airpath_announce_parameter(struct airpath_module_parameter *parameter);
void airpath_describe_parameter(const char *name, const char *description);
void airpath_announce_init(int (*init)(void));

/* Makes the semicolon after a macro part of something. */
#define AIRPATH_END _Static_assert(1, "")
#define AIRPATH_CONSTRUCTOR(name) __attribute__((constructor)) static void name(void)
#define AIRPATH_PARAMETER(name, type, place, ops)                                                                      \
	static struct airpath_module_parameter airpath_parameter_##name = { #name, type, NULL, place, ops, NULL };     \
	AIRPATH_CONSTRUCTOR(airpath_announce_##name) { airpath_announce_parameter(&airpath_parameter_##name); }        \
	AIRPATH_END
#define module_param(name, type, permissions) AIRPATH_PARAMETER(name, #type, &name, NULL)
#define module_param_named(name, value, type, permissions) AIRPATH_PARAMETER(name, #type, &value, NULL)
#define module_param_unsafe(name, type, permissions) module_param(name, type, permissions)
#define module_param_cb(name, ops, arg, permissions) AIRPATH_PARAMETER(name, "own", arg, ops)
#define MODULE_PARM_DESC(name, text)                                                                                   \
	AIRPATH_CONSTRUCTOR(airpath_describe_##name) { airpath_describe_parameter(#name, text); }                      \
	AIRPATH_END
#define module_init(function)                                                                                          \
	AIRPATH_CONSTRUCTOR(airpath_init_##function) { airpath_announce_init(function); }                              \
	AIRPATH_END
#define late_initcall(function) module_init(function)
#define module_exit(function)                                                                                          \
	static void (*const airpath_exit_##function)(void) __attribute__((unused)) = (function)
#define MODULE_LICENSE(text) AIRPATH_END
#define MODULE_AUTHOR(text) AIRPATH_END
#define MODULE_DESCRIPTION(text) AIRPATH_END
#define MODULE_VERSION(text) AIRPATH_END
#define MODULE_ALIAS(text) AIRPATH_END
#define MODULE_INFO(tag, text) AIRPATH_END
#define EXPORT_SYMBOL_GPL(name) AIRPATH_END
#define EXPORT_SYMBOL(name) AIRPATH_END

#endif
