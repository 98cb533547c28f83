/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The TCP options that carry XCP's header on data, and the feedback on acknowledgments (docs/reference/linux/wire.md):
 * kind 253, ExID 0x4158 (RFC 6994), then the type of the message.
 */
#pragma once

#include "connection.h"

#define OPTION_KIND 253
#define OPTION_ID_HIGH 0x41
#define OPTION_ID_LOW 0x58

enum option_type {
	OPTION_NONE = 0,
	OPTION_XCP_HEADER = 1,
	OPTION_XCP_ECHO = 2,
	OPTION_VCP_ECHO = 3,
	/* Not a type on the wire: a VCP echo without a code, with which a sender requests echoes. */
	OPTION_VCP_ANNOUNCEMENT = 4,
};

#define XCP_HEADER_LENGTH 20
#define XCP_ECHO_LENGTH 12
#define VCP_ECHO_LENGTH 8

#define PARSE_FLAG BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG
#define WRITE_FLAG BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG

static __always_inline u32 option_length(u8 option)
{
	switch (option) {
	case OPTION_XCP_HEADER:
		return XCP_HEADER_LENGTH;
	case OPTION_XCP_ECHO:
		return XCP_ECHO_LENGTH;
	case OPTION_VCP_ECHO:
	case OPTION_VCP_ANNOUNCEMENT:
		return VCP_ECHO_LENGTH;
	default:
		return 0;
	}
}

static __always_inline void put_u32(u8 *to, u32 value)
{
	to[0] = value >> 24;
	to[1] = value >> 16;
	to[2] = value >> 8;
	to[3] = value;
}

static __always_inline u32 get_u32(const u8 *from)
{
	return (u32)from[0] << 24 | (u32)from[1] << 16 | (u32)from[2] << 8 | from[3];
}

/* Selects the option of a segment. */
static __always_inline u8 option_for(const struct sender *sender, const struct receiver *receiver, bool data)
{
	bool pending = receiver && receiver->pending;

	if (data && sender && sender->controller == CONTROLLER_XCP) {
		bool echo = pending && receiver->speaks_xcp && receiver->alternate;

		return echo ? OPTION_XCP_ECHO : OPTION_XCP_HEADER;
	}
	if (pending && receiver->speaks_xcp)
		return OPTION_XCP_ECHO;
	if (receiver && receiver->speaks_vcp && receiver->code)
		return OPTION_VCP_ECHO;
	if (data && sender && sender->controller == CONTROLLER_VCP && !sender->answered)
		return OPTION_VCP_ANNOUNCEMENT;
	return OPTION_NONE;
}

/* Returns the longest option of any data segment: the segment size is reduced by it. */
static __always_inline u32 reserved_length(const struct sender *sender, const struct receiver *receiver)
{
	if (sender && sender->controller == CONTROLLER_XCP)
		return XCP_HEADER_LENGTH;
	if (receiver && receiver->speaks_xcp)
		return XCP_ECHO_LENGTH;
	if (receiver && receiver->speaks_vcp)
		return VCP_ECHO_LENGTH;
	if (sender && sender->controller == CONTROLLER_VCP && !sender->answered)
		return VCP_ECHO_LENGTH;
	return 0;
}

/* Returns to the kernel the room that the options of a packet need. */
static __always_inline void option_reserve(struct bpf_sock_ops *operations)
{
	struct bpf_sock *sk = operations->sk;
	struct receiver *receiver;
	struct sender *sender;
	u32 length;
	u8 option;

	if (!sk)
		return;
	sender = bpf_sk_storage_get(&senders, sk, NULL, 0);
	receiver = bpf_sk_storage_get(&receivers, sk, NULL, 0);
	if (operations->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS) {
		length = reserved_length(sender, receiver);
		if (length)
			bpf_reserve_hdr_opt(operations, length, 0);
		return;
	}
	option = option_for(sender, receiver, operations->skb_len > 0);
	length = option_length(option);
	if (!length || !bpf_reserve_hdr_opt(operations, length, 0))
		return;
	if (option != OPTION_VCP_ECHO)
		__sync_fetch_and_add(&counters.options_without_room, 1);
}

/* Writes the option into a packet that is being built, in the reserved room. */
static __always_inline void option_write(struct bpf_sock_ops *operations)
{
	u8 option[XCP_HEADER_LENGTH] = { OPTION_KIND, 0, OPTION_ID_HIGH, OPTION_ID_LOW };
	struct bpf_sock *sk = operations->sk;
	struct receiver *receiver;
	struct sender *sender;
	u32 length, size = 0;
	u64 rate = 0;
	void *header, *end;

	if (!sk)
		return;
	sender = bpf_sk_storage_get(&senders, sk, NULL, 0);
	receiver = bpf_sk_storage_get(&receivers, sk, NULL, 0);
	/* The TCP header now precedes the payload. */
	header = (void *)(long)operations->skb_data;
	end = (void *)(long)operations->skb_data_end;
	if (header + 20 > end)
		return;
	size = (*(u8 *)(header + 12) >> 4) * 4;
	option[4] = option_for(sender, receiver, operations->skb_len > size);
	length = option_length(option[4]);
	option[1] = length;
	switch (option[4]) {
	case OPTION_XCP_HEADER:
		if (!sender)
			return;
		if (sender->rtt.smoothed)
			rate = (u64)operations->snd_cwnd * operations->mss_cache * MICROSECONDS / sender->rtt.smoothed;
		put_u32(option + 8, sender->rtt.smoothed);
		put_u32(option + 12, minimum(rate, 0xffffffff));
		put_u32(option + 16, sender->rtt.smoothed ? XCP_DEMAND : 0);
		if (receiver)
			receiver->alternate = true;
		break;
	case OPTION_XCP_ECHO:
		if (!receiver)
			return;
		put_u32(option + 8, receiver->change);
		break;
	case OPTION_VCP_ECHO:
		if (!receiver)
			return;
		option[5] = receiver->code;
		option[6] = receiver->counter;
		break;
	case OPTION_VCP_ANNOUNCEMENT:
		option[4] = OPTION_VCP_ECHO;
		break;
	default:
		return;
	}
	if (length == XCP_HEADER_LENGTH ? bpf_store_hdr_opt(operations, option, XCP_HEADER_LENGTH, 0) :
	    length == XCP_ECHO_LENGTH	? bpf_store_hdr_opt(operations, option, XCP_ECHO_LENGTH, 0) :
					  bpf_store_hdr_opt(operations, option, VCP_ECHO_LENGTH, 0))
		return;
	__sync_fetch_and_add(&counters.options_written, 1);
	if (receiver)
		receiver->written = true;
	if (receiver && option[4] == OPTION_XCP_ECHO) {
		receiver->pending = receiver->alternate = false;
		receiver->change = 0;
	}
}

/* Starts the receiver's feedback on this connection. */
static __always_inline struct receiver *receiver_begins(struct bpf_sock_ops *operations, struct bpf_sock *sk)
{
	struct receiver *receiver = bpf_sk_storage_get(&receivers, sk, NULL, 0);

	if (receiver)
		return receiver;
	receiver = bpf_sk_storage_get(&receivers, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (receiver)
		bpf_sock_ops_cb_flags_set(operations, operations->bpf_sock_ops_cb_flags | WRITE_FLAG | PARSE_FLAG);
	return receiver;
}

/* Adds with saturation. A value that is not feedback, because no router wrote it, stays so. */
static __always_inline s32 add_changes(s32 a, s32 b)
{
	s64 sum = (s64)a + b;

	if (a >= XCP_ABSURD || b >= XCP_ABSURD)
		return XCP_DEMAND;
	return sum < -XCP_DEMAND ? -XCP_DEMAND : sum > XCP_DEMAND ? XCP_DEMAND : sum;
}

/* Processes an arriving packet with options that the kernel does not know. */
static __always_inline void option_read(struct bpf_sock_ops *operations)
{
	u8 option[XCP_HEADER_LENGTH] = { OPTION_KIND, 4, OPTION_ID_HIGH, OPTION_ID_LOW };
	struct bpf_sock *sk = operations->sk;
	struct receiver *receiver;
	struct sender *sender;
	long length;

	if (!sk)
		return;
	length = bpf_load_hdr_opt(operations, option, sizeof(option), 0);
	if (length == -2 /* -ENOENT */ || length == -42 /* -ENOMSG */)
		return;
	if (length == XCP_HEADER_LENGTH && option[4] == OPTION_XCP_HEADER) {
		receiver = receiver_begins(operations, sk);
		if (!receiver)
			return;
		receiver->speaks_xcp = true;
		/* Senders that do not know their round-trip time yet request nothing. */
		if (get_u32(option + 8)) {
			receiver->change = add_changes(receiver->change, get_u32(option + 16));
			receiver->pending = true;
		}
		return;
	}
	sender = bpf_sk_storage_get(&senders, sk, NULL, 0);
	if (length == XCP_ECHO_LENGTH && option[4] == OPTION_XCP_ECHO) {
		if (!sender || sender->controller != CONTROLLER_XCP)
			return;
		sender->change = add_changes(sender->change, get_u32(option + 8));
		sender->feedback = FEEDBACK_CHANGE;
		__sync_fetch_and_add(&counters.echoes, 1);
		return;
	}
	if (length == VCP_ECHO_LENGTH && option[4] == OPTION_VCP_ECHO && option[5] <= 3) {
		if (!option[5]) {
			receiver = receiver_begins(operations, sk);
			if (receiver)
				receiver->speaks_vcp = true;
			return;
		}
		if (!sender || sender->controller != CONTROLLER_VCP)
			return;
		sender->load = option[5] - 1;
		sender->feedback = FEEDBACK_LOAD;
		sender->answered = true;
		__sync_fetch_and_add(&counters.echoes, 1);
		return;
	}
	__sync_fetch_and_add(&counters.malformed, 1);
}
