/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Unsigned fixed-point numbers with 32 fractional bits, in 64 bits. BPF has neither floating point nor
 * products of 128 bits, and old compilers have no signed division for it.
 *
 * The headers in this folder do not depend on the kernel: they are compiled into the BPF programs and, for
 * tests, into the daemon.
 */
#pragma once

#ifdef __bpf__
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
/* A separate function for the verifier, which checks it once and not at each call. */
#define SUBPROGRAM __noinline
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#define SUBPROGRAM static inline
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#endif
#include <stdbool.h>

/* 32 integer bits and 32 fractional bits. */
typedef u64 fixed;

#define FIXED_ONE (1ULL << 32)
#define FIXED_MAX (~0ULL)
/* Converts a constant to the nearest number. */
#define FIXED(constant) ((fixed)((constant) * 4294967296.0 + 0.5))

#define MICROSECONDS 1000000ULL

static __always_inline u64 minimum(u64 a, u64 b)
{
	return a < b ? a : b;
}

static __always_inline u64 maximum(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Returns a - b, at least zero. */
static __always_inline u64 difference(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* Returns a b, rounded down; the product must be less than 2^32. */
static __always_inline fixed fixed_multiply(fixed a, fixed b)
{
	u64 a_high = a >> 32, a_low = (u32)a, b_high = b >> 32, b_low = (u32)b;

	return (a_high * b_high << 32) + a_high * b_low + a_low * b_high + (a_low * b_low >> 32);
}

/* Returns a / b of two numbers in the same unit, rounded down; FIXED_MAX if it does not fit. b is less than 2^56. */
SUBPROGRAM u64 fixed_divide(u64 a, u64 b)
{
	u64 whole, rest, part = 0;
	int step;

	if (!b)
		return FIXED_MAX;
	whole = a / b;
	rest = a % b;
	if (whole >> 32)
		return FIXED_MAX;
	/* Eight bits at a time, so that nothing overflows. */
	for (step = 0; step < 4; step++) {
		rest <<= 8;
		part = part << 8 | rest / b;
		rest %= b;
	}
	return whole << 32 | part;
}

/* Converts microseconds to seconds; at most 2^32 - 1 s. */
static __always_inline fixed fixed_seconds(u64 microseconds)
{
	u64 whole = microseconds / MICROSECONDS, rest = microseconds % MICROSECONDS;

	return whole >> 32 ? FIXED_MAX : whole << 32 | (rest << 32) / MICROSECONDS;
}

/*
 * Returns the cube root of x, at most 2^22, by Newton's method from above; the relative error is about 1e-8,
 * more if x is below 1e-3.
 */
SUBPROGRAM u64 fixed_cube_root(u64 x)
{
	u64 root = FIXED_ONE >> 10;
	int step;

	if (!x)
		return 0;
	x = minimum(x, 1ULL << 54);
	/* Less than twice the root. */
	for (step = 0; step < 18; step++) {
		if (fixed_multiply(fixed_multiply(root, root), root) >= x)
			break;
		root <<= 1;
	}
	for (step = 0; step < 6; step++)
		root = (2 * root + fixed_divide(x, fixed_multiply(root, root))) / 3;
	return root;
}
