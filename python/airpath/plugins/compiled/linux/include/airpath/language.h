/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The dialect of C in which the kernel is written: types, attributes, checks, messages, limits. */
#ifndef AIRPATH_LANGUAGE_H
#define AIRPATH_LANGUAGE_H

/* ---- Types ------------------------------------------------------------------------------------------------ */

typedef unsigned char u8, __u8;
typedef unsigned short u16, __u16, __be16, __le16, __sum16;
typedef unsigned int u32, __u32, __be32, __le32, __wsum;
typedef unsigned long long u64, __u64, __be64, __le64;
typedef signed char s8, __s8;
typedef signed short s16, __s16;
typedef signed int s32, __s32;
typedef signed long long s64, __s64;
typedef unsigned short umode_t;
typedef unsigned int gfp_t;
/* The C library declares the following, too, with the same types. */
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long ssize_t;
typedef u8 uint8_t;
typedef u16 uint16_t;
typedef u32 uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef s32 int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned char uchar;
typedef _Bool bool;
typedef struct {
	int counter;
} atomic_t;
typedef struct {
	s64 counter;
} atomic64_t;
struct list_head {
	struct list_head *next, *prev;
};

enum { false = 0, true = 1 };
#ifndef NULL
#define NULL ((void *)0)
#endif

#undef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Attributes ------------------------------------------------------------------------------------------- */

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define __init
#define __exit
#define __initdata
#define __user
#define __rcu
#define __force
#define __read_mostly
#define __ro_after_init
#define __must_check
#define ____cacheline_aligned
#define ____cacheline_aligned_in_smp
#define __cacheline_aligned
#define __aligned(n) __attribute__((aligned(n)))
#define __packed __attribute__((packed))
#define __pure __attribute__((pure))
#define __used __attribute__((used))
#define __maybe_unused __attribute__((unused))
#define __always_unused __attribute__((unused))
#undef __always_inline /* glibc has one, too */
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define asmlinkage
#define fallthrough                                                                                                    \
	do {                                                                                                           \
	} while (0)

/* ---- Shared memory: a connection belongs to one thread at a time ------------------------------------------ */

#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))
#define barrier() __asm__ __volatile__("" ::: "memory")
#define smp_store_release(pointer, value) WRITE_ONCE(*(pointer), value)
#define smp_load_acquire(pointer) READ_ONCE(*(pointer))
#define rcu_dereference(pointer) (pointer)
#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#define cmpxchg(pointer, old, new)                                                                                     \
	({                                                                                                             \
		typeof(*(pointer)) cmpxchg_was = *(pointer);                                                           \
		if (cmpxchg_was == (old))                                                                              \
			*(pointer) = (new);                                                                            \
		cmpxchg_was;                                                                                           \
	})
#define xchg(pointer, new)                                                                                             \
	({                                                                                                             \
		typeof(*(pointer)) xchg_was = *(pointer);                                                              \
		*(pointer) = (new);                                                                                    \
		xchg_was;                                                                                              \
	})
#define atomic_read(v) ((v)->counter)
#define atomic_set(v, i) ((v)->counter = (i))
#define atomic_inc(v) ((v)->counter++)
#define atomic_dec(v) ((v)->counter--)
#define atomic64_read(v) ((v)->counter)

/* ---- The kernel's configuration and version --------------------------------------------------------------- */

#define IS_ENABLED(option) 0
#define IS_BUILTIN(option) 0
#define IS_MODULE(option) 0
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 12, 0)

/* ---- Checks ----------------------------------------------------------------------------------------------- */

#define BUILD_BUG_ON(wrong) _Static_assert(!(wrong), "BUILD_BUG_ON: " #wrong)
#define BUILD_BUG_ON_MSG(wrong, text) _Static_assert(!(wrong), text)
#ifndef static_assert
#define static_assert _Static_assert
#endif
/* A bug ends the run. After a warning the kernel goes on, and so does the run. */
void airpath_fault(const char *file, int line, const char *problem);
#define BUG() airpath_fault(__FILE__, __LINE__, "BUG")
#define BUG_ON(wrong) ((wrong) ? BUG() : (void)0)
#define WARN_ON(wrong) (!!(wrong))
#define WARN_ON_ONCE(wrong) (!!(wrong))
#define WARN(wrong, ...) (!!(wrong))
#define WARN_ONCE(wrong, ...) (!!(wrong))

/* ---- Messages: none --------------------------------------------------------------------------------------- */

#define no_printk(...) ((void)0)
#define printk(...) no_printk()
#define pr_debug(...) no_printk()
#define pr_info(...) no_printk()
#define pr_notice(...) no_printk()
#define pr_warn(...) no_printk()
#define pr_err(...) no_printk()
#define pr_info_once(...) no_printk()
#define pr_info_ratelimited(...) no_printk()
#define pr_warn_ratelimited(...) no_printk()
#define net_warn_ratelimited(...) no_printk()
#define net_dbg_ratelimited(...) no_printk()
#define trace_printk(...) no_printk()
#define KERN_ERR ""
#define KERN_WARNING ""
#define KERN_NOTICE ""
#define KERN_INFO ""
#define KERN_DEBUG ""

/* ---- Numbers ---------------------------------------------------------------------------------------------- */

#define EPERM 1
#define ENOENT 2
#define EAGAIN 11
#define ENOMEM 12
#define EFAULT 14
#define EEXIST 17
#define EINVAL 22
#define ERANGE 34
#define ENOTSUPP 524

#define U8_MAX 0xffu
#define S8_MAX 0x7f
#define U16_MAX 0xffffu
#define S16_MAX 0x7fff
#define U32_MAX 0xffffffffu
#define S32_MAX 0x7fffffff
#define S32_MIN (-S32_MAX - 1)
#define U64_MAX 0xffffffffffffffffull
#define S64_MAX 0x7fffffffffffffffll
#define S64_MIN (-S64_MAX - 1)
#ifndef INT_MAX
#define INT_MAX S32_MAX
#define INT_MIN S32_MIN
#define UINT_MAX U32_MAX
#define LONG_MAX ((long)(~0ul >> 1))
#define ULONG_MAX (~0ul)
#endif
#define U32_C(x) x##U
#define U64_C(x) x##ULL
#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#define GENMASK(high, low) ((~0ul << (low)) & (~0ul >> (8 * sizeof(long) - 1 - (high))))
#define BITS_PER_TYPE(type) (sizeof(type) * 8)
#define __stringify_of(x) #x
#define __stringify(x) __stringify_of(x)

#endif
