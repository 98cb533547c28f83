/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The windowed minimum and maximum of Kathleen Nichols: the best three values of a window. */
#ifndef AIRPATH_MINMAX_H
#define AIRPATH_MINMAX_H

#include "airpath/language.h"

struct minmax_sample {
	u32 t, v;
};
struct minmax {
	struct minmax_sample s[3];
};
u32 minmax_running_max(struct minmax *best, u32 window, u32 now, u32 value);
u32 minmax_running_min(struct minmax *best, u32 window, u32 now, u32 value);
static inline u32 minmax_get(const struct minmax *best) { return best->s[0].v; }
static inline u32 minmax_reset(struct minmax *best, u32 now, u32 value)
{
	best->s[0] = best->s[1] = best->s[2] = (struct minmax_sample){ now, value };
	return value;
}

#endif
