/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies of the library. The parameters of a module, and the constants that it computes from them, are global
 * variables. Instances with other values therefore need another copy of the library, which the system loads only from
 * another file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "flow.h"

struct copy {
	struct copy *next;
	const struct airpath_controller *functions;
	struct airpath_value values[AIRPATH_MOST_PARAMETERS];
};

static struct copy *copies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sets the parameters of this copy. Returns its functions, or NULL and a problem. Called once. */
AIRPATH_EXPORT const struct airpath_controller *airpath_copy(const struct airpath_value *values, const char **problem)
{
	if (_setjmp(airpath_guard.back)) {
		airpath_guard.inside = 0;
		*problem = airpath_guard.text;
		return NULL;
	}
	airpath_guard.inside = 1;
	*problem = airpath_apply_parameters(values);
	airpath_guard.inside = 0;
	return *problem ? NULL : &airpath_functions;
}

/* Copies a file to an open one. */
static bool copy_file(const char *from, int to)
{
	char block[65536];
	int file = open(from, O_RDONLY | O_CLOEXEC);
	ssize_t count = -1;

	while (file >= 0 && (count = read(file, block, sizeof(block))) > 0)
		if (write(to, block, count) != count) {
			count = -1;
			break;
		}
	if (file >= 0)
		close(file);
	return count == 0;
}

/* Loads another copy of this library; returns a handle, or NULL. */
static void *load_copy(void)
{
	Dl_info own;
	char path[4096];
	void *handle = NULL;
	int file;

	if (!dladdr((void *)airpath_copy, &own) ||
	    snprintf(path, sizeof(path), "%s.XXXXXX", own.dli_fname) >= (int)sizeof(path))
		return NULL;
	/* In the folder of the library, from which libraries can be loaded. */
	file = mkostemp(path, O_CLOEXEC);
	if (file < 0)
		return NULL;
	if (copy_file(own.dli_fname, file))
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(file);
	unlink(path);
	return handle;
}

static const struct airpath_controller *functions_of_copy(const struct airpath_value *values, const char **problem)
{
	const struct airpath_controller *(*other)(const struct airpath_value *, const char **) = airpath_copy;

	/* The first set of values needs no other copy. */
	if (copies) {
		void *handle = load_copy();

		if (handle)
			*(void **)&other = dlsym(handle, "airpath_copy");
		if (!handle || !other) {
			*problem = "the library cannot be loaded a second time, for other values of its parameters";
			return NULL;
		}
	}
	return other(values, problem);
}

const struct airpath_controller *copy_for(const struct airpath_value *values, u32 count, const char **problem)
{
	const struct airpath_controller *functions;
	struct copy *copy;

	pthread_mutex_lock(&lock);
	for (copy = copies; copy; copy = copy->next)
		if (!memcmp(copy->values, values, count * sizeof(*values)))
			break;
	if (!copy && (copy = calloc(1, sizeof(*copy)))) {
		memcpy(copy->values, values, count * sizeof(*values));
		copy->functions = functions_of_copy(values, problem);
		copy->next = copies;
		copies = copy;
	}
	functions = copy ? copy->functions : NULL;
	if (!functions && !*problem)
		*problem = copy ? "the module refused these values before" : "no memory";
	pthread_mutex_unlock(&lock);
	return functions;
}
