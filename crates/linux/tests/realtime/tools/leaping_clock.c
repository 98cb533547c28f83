/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loaded before the C library: the wall clock jumps ten years ahead and back in turn each time it is read.
 * Other clocks are unchanged.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TEN_YEARS 315576000

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static unsigned int looks;
	int result = syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)
		now->tv_sec += looks++ % 2 * TEN_YEARS;
	return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec time;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &time);
	now->tv_sec = time.tv_sec;
	now->tv_usec = time.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
