/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Access to packets at the egress of a device, with updates of their checksums. Every read is bounded. */
#pragma once

#include "router_state.h"

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define IPV4_FRAGMENT 0x3fff /* more fragments, or an offset */
#define TCP_LEAST_HEADER 20

/* docs/reference/linux/wire.md */
#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_SHARED 253
#define EXPERIMENT 0x4158
#define MESSAGE_XCP 1
#define MESSAGE_XCP_LENGTH 20

struct tcp_segment {
	__u32 network;   /* offset of the IP header */
	__u32 transport; /* offset of the TCP header */
	__u32 header;    /* length of the TCP header */
	__u32 payload;   /* bytes of data */
	__u8 traffic;    /* the byte that contains the ECN field */
	__u8 first;      /* the byte before it, for IPv4's checksum */
	bool ipv6;
};

struct xcp_option {
	__u8 kind;
	__u8 length;
	__be16 experiment;
	__u8 message;
	__u8 hops;
	__be16 zero;
	__be32 rtt_us;
	__be32 throughput;
	__be32 feedback;
};

/*
 * Reads the segment in `skb`; returns false unless it is a whole, unfragmented TCP segment directly after its
 * IP header.
 */
static __always_inline bool read_segment(struct __sk_buff *skb, struct tcp_segment *segment)
{
	__u8 ip[20], data_offset;
	__u32 network = link_header, total;

	segment->network = network;
	if (skb->protocol == bpf_htons(ETHERTYPE_IPV4)) {
		if (bpf_skb_load_bytes(skb, network, ip, 20) || ip[0] >> 4 != 4 || ip[9] != IPPROTO_TCP)
			return false;
		if (((ip[6] << 8) | ip[7]) & IPV4_FRAGMENT)
			return false;
		segment->transport = network + (ip[0] & 15) * 4;
		total = (ip[2] << 8) | ip[3];
		segment->traffic = ip[1];
		segment->first = ip[0];
		segment->ipv6 = false;
		if ((ip[0] & 15) < 5)
			return false;
	} else if (skb->protocol == bpf_htons(ETHERTYPE_IPV6)) {
		/* The fixed header is read up to the next header; extension headers are not followed. */
		if (bpf_skb_load_bytes(skb, network, ip, 8) || ip[0] >> 4 != 6 || ip[6] != IPPROTO_TCP)
			return false;
		segment->transport = network + 40;
		total = ((ip[4] << 8) | ip[5]);
		total = total ? total + 40 : 0;
		segment->traffic = ip[1] >> 4;
		segment->first = 0;
		segment->ipv6 = true;
	} else {
		return false;
	}
	if (bpf_skb_load_bytes(skb, segment->transport + 12, &data_offset, 1))
		return false;
	segment->header = (data_offset >> 4) * 4;
	/* Segments of more than 64 KiB (offloading) have no length; a frame may be longer than its packet. */
	if (total == 0 || network + total > skb->len)
		total = skb->len - network;
	if (segment->header < TCP_LEAST_HEADER || segment->transport + segment->header > network + total)
		return false;
	segment->payload = network + total - segment->transport - segment->header;
	return true;
}

/* Writes the code `code` (2 bits) into the IP header if it has another. */
static __always_inline void write_code(struct __sk_buff *skb, const struct tcp_segment *segment, __u32 code)
{
	__u8 byte;

	if (segment->ipv6) {
		if (bpf_skb_load_bytes(skb, segment->network + 1, &byte, 1))
			return;
		byte = (byte & ~0x30) | (code << 4);
		bpf_skb_store_bytes(skb, segment->network + 1, &byte, 1, 0);
		return;
	}
	byte = (segment->traffic & ~3) | code;
	bpf_l3_csum_replace(skb, segment->network + 10, bpf_htons((segment->first << 8) | segment->traffic),
			    bpf_htons((segment->first << 8) | byte), 2);
	bpf_skb_store_bytes(skb, segment->network + 1, &byte, 1, 0);
}

enum option_search { OPTION_ABSENT, OPTION_FOUND, OPTION_MALFORMED };

/*
 * Finds XCP's header among the TCP options; `*at` is its offset.
 *
 * There are at most 40 bytes of options, so at most 40 steps. Each step reads two bytes by a helper: the
 * verifier rejects a variable offset into the stack, and the last byte of a header without data after it is
 * read alone.
 */
static __always_inline int find_xcp(struct __sk_buff *skb, const struct tcp_segment *segment, __u32 *at,
				    struct xcp_option *option)
{
	__u32 offset = segment->transport + TCP_LEAST_HEADER;
	__u32 end = segment->transport + segment->header;
	__u8 head[2];
	int step;

	for (step = 0; step < 40; step++) {
		if (offset >= end)
			return OPTION_ABSENT;
		if (bpf_skb_load_bytes(skb, offset, head, 1))
			return OPTION_MALFORMED;
		if (head[0] == OPTION_END)
			return OPTION_ABSENT;
		if (head[0] == OPTION_NOP) {
			offset++;
			continue;
		}
		if (offset + 2 > end || bpf_skb_load_bytes(skb, offset, head, 2))
			return OPTION_MALFORMED;
		if (head[1] < 2 || offset + head[1] > end)
			return OPTION_MALFORMED;
		if (head[0] == OPTION_SHARED && head[1] == MESSAGE_XCP_LENGTH) {
			if (bpf_skb_load_bytes(skb, offset, option, sizeof(*option)))
				return OPTION_MALFORMED;
			if (option->experiment == bpf_htons(EXPERIMENT) && option->message == MESSAGE_XCP) {
				*at = offset;
				return OPTION_FOUND;
			}
		}
		offset += head[1];
	}
	return OPTION_ABSENT;
}

/*
 * Writes `feedback` into the XCP header at `at`, and updates TCP's checksum.
 *
 * The checksum is over pairs of bytes counted from the TCP header, and NOPs may have put the option at an odd
 * offset. The function therefore sums eight bytes that begin at an even offset: they are within the header,
 * which ends at an even offset after them.
 */
static __always_inline void write_feedback(struct __sk_buff *skb, const struct tcp_segment *segment, __u32 at, __be32 feedback)
{
	__u32 from = at + 12 + ((at - segment->transport) & 1);
	__be32 before[2], after[2];

	if (bpf_skb_load_bytes(skb, from, before, sizeof(before)))
		return;
	if (bpf_skb_store_bytes(skb, at + 16, &feedback, sizeof(feedback), 0))
		return;
	if (bpf_skb_load_bytes(skb, from, after, sizeof(after)))
		return;
	bpf_l4_csum_replace(skb, segment->transport + 16, 0,
			    bpf_csum_diff(before, sizeof(before), after, sizeof(after), 0), 0);
}
