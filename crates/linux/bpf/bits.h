/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bits of IP and TCP headers. The ECN field of data carries VCP's code from routers to the receiver; two
 * reserved bits of the TCP header return it if the options of an acknowledgment are full
 * (docs/reference/linux/wire.md).
 */
#pragma once

#include "connection.h"

/*
 * In the TCP header's 13th byte, whose high half is the header length: the two reserved bits above the
 * lowest. The lowest is AE (RFC 9768).
 */
#define BITS_SHIFT 1
#define BITS_MASK (3 << BITS_SHIFT)
#define ECN_MASK 3
/* VCP's code for low load, with which senders start. */
#define ECN_LOW 1

struct headers {
	/* Offsets of IP and TCP from the packet's first byte. */
	u32 ip;
	u32 tcp;
	u32 payload;
	bool version6;
	u8 ecn;
	/* The TCP header's 13th byte. */
	u8 bits;
};

/* Reads the headers of a TCP packet whose IP header begins at `ip`. */
static __always_inline bool headers_read(struct __sk_buff *packet, u32 ip, struct headers *headers)
{
	u8 start[40];
	u8 fields[14];
	u32 length, header;

	if (bpf_skb_load_bytes(packet, ip, start, 20))
		return false;
	headers->ip = ip;
	headers->version6 = start[0] >> 4 == 6;
	if (headers->version6) {
		if (start[6] != IPPROTO_TCP)
			return false;
		header = 40;
		headers->ecn = start[1] >> 4 & ECN_MASK;
		length = (u32)start[4] << 8 | start[5];
		/* Larger than the length field can express: a segmentation-offload packet. */
		length = length ? length + header : packet->len - ip;
	} else {
		/* Fragments are not read: they may have no TCP header. */
		if (start[0] >> 4 != 4 || start[9] != IPPROTO_TCP || (start[6] & 0x3f) || start[7])
			return false;
		header = (start[0] & 15) * 4;
		headers->ecn = start[1] & ECN_MASK;
		length = (u32)start[2] << 8 | start[3];
		length = length ? length : packet->len - ip;
	}
	headers->tcp = ip + header;
	if (bpf_skb_load_bytes(packet, headers->tcp, fields, sizeof(fields)))
		return false;
	headers->bits = fields[12];
	header += (fields[12] >> 4) * 4;
	headers->payload = length > header ? length - header : 0;
	return true;
}

/* Processes an arriving packet for a socket of the cgroup; it begins with the IP header. */
static __always_inline void bits_read(struct __sk_buff *packet)
{
	struct headers headers = { 0 };
	struct receiver *receiver;
	struct sender *sender;
	struct bpf_sock *sk;
	u8 code;

	if (!headers_read(packet, 0, &headers))
		return;
	code = (headers.bits & BITS_MASK) >> BITS_SHIFT;
	/* Most packets return here: neither VCP data nor its feedback. */
	if (!code && !(headers.ecn && headers.payload))
		return;
	sk = packet->sk;
	if (!sk)
		return;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return;
	if (headers.ecn && headers.payload) {
		receiver = bpf_sk_storage_get(&receivers, sk, NULL, 0);
		if (receiver && receiver->speaks_vcp) {
			receiver->code = headers.ecn;
			receiver->counter++;
			receiver->pending = true;
		}
	}
	if (!code)
		return;
	sender = bpf_sk_storage_get(&senders, sk, NULL, 0);
	if (!sender || sender->controller != CONTROLLER_VCP)
		return;
	sender->load = code - 1;
	sender->feedback = FEEDBACK_LOAD;
	sender->answered = true;
	__sync_fetch_and_add(&counters.echoes_by_bits, 1);
}

/* Sets the ECN field of a packet that has none. */
static __always_inline void set_ecn(struct __sk_buff *packet, const struct headers *headers, u8 code)
{
	u8 fields[2], before, after;

	if (bpf_skb_load_bytes(packet, headers->ip, fields, sizeof(fields)))
		return;
	before = fields[1];
	after = headers->version6 ? before | code << 4 : before | code;
	if (!headers->version6)
		bpf_l3_csum_replace(packet, headers->ip + 10, bpf_htons(before), bpf_htons(after), 2);
	bpf_skb_store_bytes(packet, headers->ip + 1, &after, 1, 0);
}

static __always_inline void set_bits(struct __sk_buff *packet, const struct headers *headers, u8 code)
{
	u8 before = headers->bits, after = (before & ~BITS_MASK) | code << BITS_SHIFT;

	bpf_l4_csum_replace(packet, headers->tcp + 16, bpf_htons((u16)before << 8), bpf_htons((u16)after << 8), 2);
	bpf_skb_store_bytes(packet, headers->tcp + 12, &after, 1, 0);
}

/* Processes a packet that leaves by a device; its IP header begins at `ip`. */
static __always_inline void bits_write(struct __sk_buff *packet, u32 ip)
{
	struct headers headers = { 0 };
	struct receiver *receiver;
	struct sender *sender;
	struct bpf_sock *sk = packet->sk;
	bool mark;
	u8 code = 0;

	if (!sk)
		return;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return;
	sender = bpf_sk_storage_get(&senders, sk, NULL, 0);
	mark = sender && sender->controller == CONTROLLER_VCP;
	receiver = bpf_sk_storage_get(&receivers, sk, NULL, 0);
	if (receiver) {
		/*
		 * If the header has no space at all, the kernel does not call the program that writes
		 * options. Two bits fit into any header.
		 */
		if (receiver->speaks_vcp && !receiver->written)
			code = receiver->code;
		receiver->written = false;
	}
	if (!mark && !code)
		return;
	if (!headers_read(packet, ip, &headers))
		return;
	if (code) {
		set_bits(packet, &headers, code & 3);
		__sync_fetch_and_add(&counters.options_without_room, 1);
	}
	if (mark && headers.payload && !headers.ecn)
		set_ecn(packet, &headers, ECN_LOW);
}
