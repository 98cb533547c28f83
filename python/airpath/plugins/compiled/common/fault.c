/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Faults of a file. Files are compiled with -fsanitize, so that a division by zero, an oversized shift and an index
 * outside an array call the functions __ubsan_handle_...; a division by zero would otherwise end the process.
 */
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

_Thread_local struct airpath_guard airpath_guard;

void airpath_fault(const char *file, int line, const char *problem)
{
	const char *name = strrchr(file, '/');

	snprintf(airpath_guard.text, sizeof(airpath_guard.text), "%s:%d: %s", name ? name + 1 : file, line, problem);
	if (airpath_guard.inside)
		longjmp(airpath_guard.back, 1);
	/* A constructor of the file, when the library is loaded. */
	fprintf(stderr, "airpath: %s\n", airpath_guard.text);
	abort();
}

/* Each report of a compiler begins with its place in the source. */
struct place {
	const char *file;
	uint32_t line, column;
};

/* The compiler passes further arguments, which are not read. The variants with _abort are those that do not return. */
#define AIRPATH_REPORT(kind, problem)                                                                                  \
	void __ubsan_handle_##kind(struct place *place) { airpath_fault(place->file, place->line, problem); }          \
	void __ubsan_handle_##kind##_abort(struct place *place) { airpath_fault(place->file, place->line, problem); }
AIRPATH_REPORT(divrem_overflow, "division by zero, or its result has too many bits")
AIRPATH_REPORT(shift_out_of_bounds, "shift by a negative number or by too many bits")
AIRPATH_REPORT(out_of_bounds, "index outside an array")
