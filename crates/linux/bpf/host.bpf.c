/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The host side: congestion controllers, the options and codes that they and their receivers write, and the
 * selection of connections.
 */
#include "bits.h"
#include "datapath.h"
#include "echo.h"

CONTROLLER(airpath_xcp, CONTROLLER_XCP);
CONTROLLER(airpath_vcp, CONTROLLER_VCP);
CONTROLLER(airpath_ebe, CONTROLLER_CUBIC_EBE);
CONTROLLER(airpath_westw, CONTROLLER_WESTWOOD);
CONTROLLER(airpath_sarbe, CONTROLLER_SARBE);

/* TCP_CA_NAME_MAX of the kernel. */
#define NAME_LENGTH 16

/* The controller's name, set before loading; if empty, connections keep theirs. */
const volatile char selected[NAME_LENGTH];

/*
 * Whether the connection's controller writes options: airpath_xcp or airpath_vcp, identified by the first
 * letter after the underscore.
 */
static __always_inline bool writes_options(struct bpf_sock_ops *operations)
{
	char name[NAME_LENGTH] = { 0 };

	if (bpf_getsockopt(operations, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		return false;
	return name[0] == 'a' && name[1] == 'i' && name[2] == 'r' && name[3] == 'p' && name[4] == 'a' && name[5] == 't' &&
	       name[6] == 'h' && name[7] == '_' && (name[8] == 'x' || name[8] == 'v');
}

static __always_inline void select_controller(struct bpf_sock_ops *operations)
{
	if (!selected[0])
		return;
	if (bpf_setsockopt(operations, SOL_TCP, TCP_CONGESTION, (void *)selected, NAME_LENGTH))
		__sync_fetch_and_add(&counters.refused, 1);
	else
		__sync_fetch_and_add(&counters.selected, 1);
}

SEC("sockops")
int host_sockops(struct bpf_sock_ops *operations)
{
	switch (operations->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		select_controller(operations);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		select_controller(operations);
		/* fall through */
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		bpf_sock_ops_cb_flags_set(operations, operations->bpf_sock_ops_cb_flags | PARSE_FLAG |
							      (writes_options(operations) ? WRITE_FLAG : 0));
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		option_reserve(operations);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		option_write(operations);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		option_read(operations);
		break;
	}
	return 1;
}

SEC("cgroup_skb/ingress")
int host_ingress(struct __sk_buff *packet)
{
	bits_read(packet);
	return 1;
}

/* Two versions: for devices whose packets begin with an Ethernet header, and for those without one. */
SEC("tc")
int host_egress_ethernet(struct __sk_buff *packet)
{
	bits_write(packet, ETH_HLEN);
	return -1; /* TCX_NEXT: continue with the next attached program */
}

SEC("tc")
int host_egress_bare(struct __sk_buff *packet)
{
	bits_write(packet, 0);
	return -1;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
