/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The clocks and the random numbers of the connection whose function is being called. */
#ifndef AIRPATH_CLOCK_H
#define AIRPATH_CLOCK_H

#include "airpath/arithmetic.h"

typedef s64 ktime_t;

/* A parameter (`hz`). As a cast it cannot be part of a condition of the preprocessor, where a name would count as 0. */
extern int airpath_hz;
#define HZ ((int)airpath_hz)

#define USEC_PER_SEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define MSEC_PER_SEC 1000L
#define USEC_PER_MSEC 1000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define USEC_PER_JIFFY (USEC_PER_SEC / HZ)
#define TCP_TS_HZ 1000

struct airpath_moment {
	unsigned long ticks; /* jiffies */
	u64 ns;              /* since the machine was started, which was some time before the run */
	u64 *random;         /* the state of the random numbers of the connection */
};
extern _Thread_local struct airpath_moment airpath_now;

#define jiffies (airpath_now.ticks)
#define jiffies_64 ((u64)airpath_now.ticks)
#define get_jiffies_64() jiffies_64
#define tcp_jiffies32 ((u32)airpath_now.ticks)
#define ktime_get_ns() (airpath_now.ns)
#define ktime_get() ((ktime_t)airpath_now.ns)
#define ktime_get_real_ns() (airpath_now.ns)
#define ktime_to_ns(time) ((s64)(time))
#define ktime_to_us(time) ((s64)(time) / NSEC_PER_USEC)
#define ktime_to_ms(time) ((s64)(time) / NSEC_PER_MSEC)
#define ktime_us_delta(later, earlier) (((s64)(later) - (s64)(earlier)) / NSEC_PER_USEC)
#define local_clock() (airpath_now.ns)
#define sched_clock() (airpath_now.ns)
#define tcp_clock_ns() (airpath_now.ns)
#define tcp_clock_us() (airpath_now.ns / NSEC_PER_USEC)

/* Up, as in the kernel: a timeout never comes early. */
static inline unsigned long usecs_to_jiffies(u32 us) { return DIV_ROUND_UP((u64)us * HZ, (u64)USEC_PER_SEC); }
static inline unsigned long msecs_to_jiffies(u32 ms) { return DIV_ROUND_UP((u64)ms * HZ, (u64)MSEC_PER_SEC); }
static inline unsigned long nsecs_to_jiffies(u64 ns) { return ns / (NSEC_PER_SEC / HZ); }
static inline u32 jiffies_to_usecs(unsigned long j) { return (u64)j * USEC_PER_SEC / HZ; }
static inline u32 jiffies_to_msecs(unsigned long j) { return (u64)j * MSEC_PER_SEC / HZ; }
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define time_after32(a, b) ((s32)((u32)(b) - (u32)(a)) < 0)
#define time_before32(a, b) time_after32(b, a)

u64 airpath_random(void);
static inline u32 get_random_u32(void) { return airpath_random() >> 32; }
static inline u64 get_random_u64(void) { return airpath_random(); }
static inline u16 get_random_u16(void) { return get_random_u32(); }
static inline u8 get_random_u8(void) { return get_random_u32(); }
static inline u32 get_random_u32_below(u32 end) { return (u64)get_random_u32() * end >> 32; }
static inline u32 get_random_u32_inclusive(u32 low, u32 high) { return low + get_random_u32_below(high - low + 1); }
#define prandom_u32() get_random_u32()
#define prandom_u32_max(end) get_random_u32_below(end)
#define get_random_int() get_random_u32()
static inline void get_random_bytes(void *to, size_t count)
{
	for (size_t at = 0; at < count; at++)
		((u8 *)to)[at] = get_random_u32();
}
#define prandom_bytes(to, count) get_random_bytes(to, count)

#endif
