/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Minimum and maximum, division, bits. */
#ifndef AIRPATH_ARITHMETIC_H
#define AIRPATH_ARITHMETIC_H

#include "airpath/language.h"

#define AIRPATH_PICK(x, y, how)                                                                                        \
	({                                                                                                             \
		typeof(x) pick_x = (x);                                                                                \
		typeof(y) pick_y = (y);                                                                                \
		pick_x how pick_y ? pick_x : pick_y;                                                                   \
	})
#define min(x, y) AIRPATH_PICK(x, y, <)
#define max(x, y) AIRPATH_PICK(x, y, >)
#define min_t(type, x, y) AIRPATH_PICK((type)(x), (type)(y), <)
#define max_t(type, x, y) AIRPATH_PICK((type)(x), (type)(y), >)
#define umin(x, y) min_t(u64, x, y)
#define umax(x, y) max_t(u64, x, y)
#define min3(x, y, z) min((typeof(x))min(x, y), z)
#define max3(x, y, z) max((typeof(x))max(x, y), z)
#define min_not_zero(x, y)                                                                                             \
	({                                                                                                             \
		typeof(x) not_zero_x = (x);                                                                            \
		typeof(y) not_zero_y = (y);                                                                            \
		!not_zero_x ? not_zero_y : !not_zero_y ? not_zero_x : min(not_zero_x, not_zero_y);                     \
	})
#define clamp(value, low, high) min((typeof(value))max(value, low), high)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)
#define clamp_val(value, low, high) clamp_t(typeof(value), value, low, high)
/* Unsigned values become signed first, so that the difference of two unsigned values has a distance. */
#define abs_as(type, x)                                                                                                \
	({                                                                                                             \
		type abs_x = (type)(x);                                                                                \
		abs_x < 0 ? -abs_x : abs_x;                                                                            \
	})
#define abs(x) __builtin_choose_expr(sizeof(x) == sizeof(s64), abs_as(s64, x), abs_as(s32, x))
#define swap(x, y)                                                                                                     \
	do {                                                                                                           \
		typeof(x) swap_x = (x);                                                                                \
		(x) = (y);                                                                                             \
		(y) = swap_x;                                                                                          \
	} while (0)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((u64)(n), (u64)(d))
#define DIV_ROUND_DOWN_ULL(n, d) ((u64)(n) / (u32)(d))
#define DIV_ROUND_CLOSEST(n, d)                                                                                        \
	({                                                                                                             \
		typeof(n) closest_n = (n);                                                                             \
		typeof(d) closest_d = (d);                                                                             \
		((typeof(n))-1 > 0 || (typeof(d))-1 > 0 || (closest_n > 0) == (closest_d > 0))                         \
			? (closest_n + closest_d / 2) / closest_d                                                      \
			: (closest_n - closest_d / 2) / closest_d;                                                     \
	})
#define roundup(x, y) (DIV_ROUND_UP(x, y) * (y))
#define rounddown(x, y) ((x) - (x) % (y))
#define mult_frac(x, n, d) ((x) / (d) * (n) + (x) % (d) * (n) / (d))

/* The divisor counts with 32 bits, as in the kernel. */
#define do_div(n, base)                                                                                                \
	({                                                                                                             \
		u32 do_div_base = (base);                                                                              \
		u32 do_div_rest = (u64)(n) % do_div_base;                                                              \
		(n) = (u64)(n) / do_div_base;                                                                          \
		do_div_rest;                                                                                           \
	})
static inline u64 div_u64(u64 n, u32 d) { return n / d; }
static inline s64 div_s64(s64 n, s32 d) { return n / d; }
static inline u64 div64_u64(u64 n, u64 d) { return n / d; }
static inline s64 div64_s64(s64 n, s64 d) { return n / d; }
#define div64_ul(n, d) div64_u64(n, d)
#define div64_long(n, d) div64_s64(n, d)
static inline u64 div_u64_rem(u64 n, u32 d, u32 *rest) { *rest = n % d; return n / d; }
static inline u64 div64_u64_rem(u64 n, u64 d, u64 *rest) { *rest = n % d; return n / d; }
static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift) { return (unsigned __int128)a * b >> shift; }
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift) { return (unsigned __int128)a * b >> shift; }
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 d) { return (unsigned __int128)a * b / d; }
static inline int fls(u32 x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline int ffs_kernel(int x) { return __builtin_ffs(x); }
static inline unsigned long __ffs(unsigned long x) { return __builtin_ctzl(x); }
static inline unsigned long __fls(unsigned long x) { return 63 - __builtin_clzl(x); }
#define ilog2(x) (fls64(x) - 1)
#define hweight32(x) __builtin_popcount(x)
static inline bool is_power_of_2(unsigned long x) { return x && !(x & (x - 1)); }
static inline unsigned long roundup_pow_of_two(unsigned long x) { return x <= 1 ? 1 : 1ul << fls64(x - 1); }
static inline unsigned long int_sqrt(unsigned long x)
{
	unsigned long root = 0;

	for (int bit = 31; bit >= 0; bit--)
		if ((root | 1ul << bit) * (root | 1ul << bit) <= x)
			root |= 1ul << bit;
	return root;
}

#endif
