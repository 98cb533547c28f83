/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Faults of a file: they end the call of airpath during which they occur, and not the process. */
#ifndef AIRPATH_FAULT_H
#define AIRPATH_FAULT_H

#include <setjmp.h>

/* Where a fault returns to, and its text. Its users call _setjmp before they set `inside`. */
struct airpath_guard {
	jmp_buf back;
	int inside;
	char text[256];
};
extern _Thread_local struct airpath_guard airpath_guard;

void airpath_fault(const char *file, int line, const char *problem);

#endif
