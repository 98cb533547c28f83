/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Hosts: which congestion controller the TCP connections of a cgroup use. */
#include "kernel.h"

/* TCP_CA_NAME_MAX of the kernel. */
#define NAME_LENGTH 16

/* The controller's name, set before loading; empty: the connections keep theirs. */
const volatile char controller[NAME_LENGTH];

/* Connections of the cgroup to which the controller was given. */
__u64 connections;

SEC("sockops")
int host_sockops(struct bpf_sock_ops *operations)
{
	switch (operations->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (!controller[0])
			break;
		if (!bpf_setsockopt(operations, SOL_TCP, TCP_CONGESTION, (void *)controller, NAME_LENGTH))
			__sync_fetch_and_add(&connections, 1);
		break;
	}
	return 1;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
