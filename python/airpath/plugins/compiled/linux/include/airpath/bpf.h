/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The lists of functions that BPF programs may call: empty. */
#ifndef AIRPATH_BPF_H
#define AIRPATH_BPF_H

#include "airpath/language.h"

struct module;
struct btf_id_set8 {
	u32 count;
};
struct btf_id_set {
	u32 count;
};
struct btf_kfunc_id_set {
	struct module *owner;
	union {
		struct btf_id_set8 *set;
		struct btf_id_set *check_set;
	};
	void *filter;
};
struct kfunc_btf_id_set {
	struct btf_id_set *set;
	struct module *owner;
};
enum { BPF_PROG_TYPE_UNSPEC = 0, BPF_PROG_TYPE_STRUCT_OPS = 27, BPF_SOCK_OPS_BASE_RTT = 7 };
#define __bpf_kfunc
#define __bpf_kfunc_start_defs()
#define __bpf_kfunc_end_defs()
#define BTF_SET8_START(name) static struct btf_id_set8 name __attribute__((unused)) = { 0 };
#define BTF_SET8_END(name)
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name)
#define BTF_SET_START(name) static struct btf_id_set name __attribute__((unused)) = { 0 };
#define BTF_SET_END(name)
#define BTF_ID(kind, name)
#define BTF_ID_FLAGS(...)
#define register_btf_kfunc_id_set(type, set) ((void)(set), 0)
#define DEFINE_KFUNC_BTF_ID_SET(ids, name) static struct kfunc_btf_id_set name = { ids, NULL }
#define register_kfunc_btf_id_set(list, set) ((void)(set))
#define unregister_kfunc_btf_id_set(list, set) ((void)(set))

/* No BPF program answers. */
struct sock;
static inline int tcp_call_bpf(struct sock *sk, int op, u32 count, u32 *args)
{
	(void)sk, (void)op, (void)count, (void)args;
	return -1;
}

#endif
