/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Scaled integers: sign, 32 significant bits and a power of two, in one word. The covariances of a Kalman
 * filter span twelve powers of ten and more, beyond the range of fixed-point numbers. The relative error of
 * an operation is below 2^-30.
 *
 * The word: bits 0 to 31 are the digits, with the highest of them set; bits 32 to 47 are the exponent plus
 * 2^15; bit 48 is the sign. Zero is 0.
 */
#pragma once

#include "fixed.h"

typedef u64 scaled;

#define SCALED_NEGATIVE (1ULL << 48)
#define SCALED_BIAS (1 << 15)

static __always_inline u64 scaled_digits(scaled x)
{
	return (u32)x;
}

static __always_inline s32 scaled_exponent(scaled x)
{
	return (s32)(x >> 32 & 0xffff) - SCALED_BIAS;
}

/* Returns digits 2^exponent with the sign of `sign`, rounded to 32 bits. */
SUBPROGRAM u64 scaled_make(u64 digits, s32 exponent, u64 sign)
{
	if (!digits)
		return 0;
	if (!(digits >> 32)) {
		digits <<= 32;
		exponent -= 32;
	}
	if (!(digits >> 48)) {
		digits <<= 16;
		exponent -= 16;
	}
	if (!(digits >> 56)) {
		digits <<= 8;
		exponent -= 8;
	}
	if (!(digits >> 60)) {
		digits <<= 4;
		exponent -= 4;
	}
	if (!(digits >> 62)) {
		digits <<= 2;
		exponent -= 2;
	}
	if (!(digits >> 63)) {
		digits <<= 1;
		exponent -= 1;
	}
	exponent += 32;
	if ((digits & 0xffffffff) >= 0x80000000 && digits >> 32 != 0xffffffff)
		digits += 1ULL << 32;
	digits >>= 32;
	if (exponent < 1 - SCALED_BIAS)
		return 0;
	if (exponent >= SCALED_BIAS) {
		exponent = SCALED_BIAS - 1;
		digits = 0xffffffff;
	}
	return digits | (u64)(u32)(exponent + SCALED_BIAS) << 32 | (sign & SCALED_NEGATIVE);
}

/* Converts an integer times 2^exponent. */
static __always_inline scaled scaled_number(u64 digits, s32 exponent)
{
	return scaled_make(digits, exponent, 0);
}

static __always_inline scaled scaled_of_fixed(fixed x)
{
	return scaled_make(x, -32, 0);
}

static __always_inline scaled scaled_negate(scaled x)
{
	return x ? x ^ SCALED_NEGATIVE : 0;
}

SUBPROGRAM u64 scaled_multiply(u64 a, u64 b)
{
	return scaled_make(scaled_digits(a) * scaled_digits(b), scaled_exponent(a) + scaled_exponent(b), a ^ b);
}

/* Requires a nonzero b. */
SUBPROGRAM u64 scaled_divide(u64 a, u64 b)
{
	u64 divisor = scaled_digits(b);

	if (!divisor)
		return 0;
	return scaled_make((scaled_digits(a) << 32) / divisor, scaled_exponent(a) - scaled_exponent(b) - 32, a ^ b);
}

SUBPROGRAM u64 scaled_add(u64 a, u64 b)
{
	u64 large, small;
	s32 apart;

	if (!scaled_digits(a))
		return b;
	if (!scaled_digits(b))
		return a;
	apart = scaled_exponent(a) - scaled_exponent(b);
	if (apart < 0 || (apart == 0 && scaled_digits(a) < scaled_digits(b))) {
		u64 other = a;

		a = b;
		b = other;
		apart = -apart;
	}
	if (apart > 62)
		return a;
	large = scaled_digits(a) << 31;
	small = scaled_digits(b) << 31 >> (apart & 63);
	large = (a ^ b) & SCALED_NEGATIVE ? large - small : large + small;
	return scaled_make(large, scaled_exponent(a) - 31, a);
}

static __always_inline scaled scaled_subtract(scaled a, scaled b)
{
	return scaled_add(a, scaled_negate(b));
}

static __always_inline bool scaled_below_zero(scaled x)
{
	return x & SCALED_NEGATIVE;
}

/* a < b */
static __always_inline bool scaled_less(scaled a, scaled b)
{
	return scaled_below_zero(scaled_subtract(a, b));
}

static __always_inline scaled scaled_absolute(scaled x)
{
	return x & ~SCALED_NEGATIVE;
}

static __always_inline scaled scaled_not_below_zero(scaled x)
{
	return scaled_below_zero(x) ? 0 : x;
}

static __always_inline scaled scaled_maximum(scaled a, scaled b)
{
	return scaled_less(a, b) ? b : a;
}

static __always_inline scaled scaled_minimum(scaled a, scaled b)
{
	return scaled_less(a, b) ? a : b;
}

/* Rounds down; returns zero for negative values, FIXED_MAX for values that do not fit. */
static __always_inline fixed scaled_to_fixed(scaled x)
{
	s32 shift = scaled_exponent(x) + 32;

	if (!scaled_digits(x) || scaled_below_zero(x))
		return 0;
	if (shift > 32)
		return FIXED_MAX;
	if (shift >= 0)
		return scaled_digits(x) << (shift & 63);
	return shift < -31 ? 0 : scaled_digits(x) >> (-shift & 63);
}
