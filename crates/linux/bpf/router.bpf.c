// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The router's programs at the egress of a device, before its queue: count arrivals, read the queue, write
 * VCP's code or XCP's feedback. Also losses, at either side of a device. The daemon does the computations;
 * the programs follow its last instructions, and change nothing if it sends none.
 */
#include "router_feedback.h"
#include "router_loss.h"
#include "router_packet.h"
#include "router_record.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* The kernel's representation of a packet; the fields are found in the running kernel by name. */
struct gnet_stats_queue {
	__u32 backlog;
} __attribute__((preserve_access_index));

struct Qdisc {
	struct gnet_stats_queue qstats;
} __attribute__((preserve_access_index));

struct net_device {
	struct Qdisc *qdisc;
} __attribute__((preserve_access_index));

struct sk_buff {
	struct net_device *dev;
} __attribute__((preserve_access_index));

/* Continue with the next program, as if this one were not attached. */
#define PASS -1
#define DROP 2

/* Returns the size that the queue discipline counts; the kernel leaves it out if there is no queue. */
static __always_inline __u32 wire_size(struct __sk_buff *skb)
{
	return skb->wire_len < skb->len ? skb->len : skb->wire_len;
}

/* Counts the packet and reads the queue of the device's root, in bytes. Returns the packet's bytes on the wire. */
static __always_inline __u32 arrive(struct __sk_buff *skb, __u32 segments, struct record *passed)
{
	__u64 backlog = BPF_CORE_READ((struct sk_buff *)skb, dev, qdisc, qstats.backlog);
	__u32 size = wire_size(skb);

	passed->count = __sync_fetch_and_add(&counters.packets, segments) + segments;
	passed->segments = segments;
	passed->size = size;
	passed->generation = guidance.generation;
	if (recording)
		passed->time = bpf_ktime_get_ns();
	add(&counters.bytes, size);
	counters.backlog = backlog;
	if (backlog < counters.shortest)
		counters.shortest = backlog;
	return size;
}

static __always_inline __u32 segments_of(struct __sk_buff *skb)
{
	__u32 segments = skb->gso_segs;

	return segments ? segments : 1;
}

static __always_inline void pass_vcp(struct __sk_buff *skb, struct record *passed)
{
	__u32 segments = segments_of(skb), size = arrive(skb, segments, passed), code;
	struct tcp_segment segment;

	if (!read_segment(skb, &segment) || segment.payload == 0 || (segment.traffic & 3) == 0)
		return;
	add(&counters.data_packets, segments);
	add(&counters.data_bytes, size);
	if (!guided()) {
		add(&counters.unguided, segments);
		return;
	}
	passed->generation = guidance.generation;
	code = guidance.code & 3;
	passed->data = true;
	passed->payload = segment.payload;
	passed->brought = passed->left = segment.traffic & 3;
	if (code > (segment.traffic & 3)) {
		write_code(skb, &segment, code);
		add(&counters.written, segments);
		passed->left = code;
	}
}

SEC("tc")
int router_vcp(struct __sk_buff *skb)
{
	struct record passed = { 0 };

	pass_vcp(skb, &passed);
	add(&counters.settled, passed.segments);
	record(&passed);
	return PASS;
}

/* Returns the feedback of each of `segments` equal segments that share `whole`. */
static __always_inline __s64 divided(__s64 whole, __u32 segments)
{
	if (segments == 1)
		return whole;
	return whole < 0 ? -(__s64)((__u64)-whole / segments) : (__s64)((__u64)whole / segments);
}

static __always_inline void pass_xcp(struct __sk_buff *skb, struct record *passed)
{
	__u32 segments = segments_of(skb), size = arrive(skb, segments, passed), at, rtt, throughput;
	struct tcp_segment segment;
	struct xcp_option option;
	__s64 feedback = 0, requested;
	__u64 x;
	int found;

	if (!read_segment(skb, &segment) || segment.payload == 0)
		return;
	found = find_xcp(skb, &segment, &at, &option);
	if (found == OPTION_MALFORMED)
		add(&counters.malformed, segments);
	if (found != OPTION_FOUND)
		return;
	rtt = bpf_ntohl(option.rtt_us);
	throughput = bpf_ntohl(option.throughput);
	requested = (__s32)bpf_ntohl(option.feedback);
	/* X: the time between two packets of this flow, at most its round trip and what fits into 32 bits. */
	x = least((__u64)rtt * 1000, 0xffffffff);
	if (throughput)
		x = least(x, segment.payload * 1000000000ULL / throughput);
	if (rtt) {
		__u64 counted = least(rtt, 1000000);

		add(&counters.data_packets, segments);
		add(&counters.data_bytes, size);
		add(&counters.sum_x, x);
		add(&counters.sum_x_rtt, (x * counted) >> 10);
	}
	if (!guided()) {
		add(&counters.unguided, segments);
		return;
	}
	/* A sender that has not measured its round-trip time yet receives nothing, as in ns-2.35. */
	if (rtt)
		feedback = (divided(give(x, size, (requested << 16) * segments, passed), segments) + 32768) >> 16;
	passed->data = true;
	passed->payload = segment.payload;
	passed->rtt_us = rtt;
	passed->throughput = throughput;
	passed->brought = requested;
	passed->left = feedback;
	if (feedback != requested) {
		write_feedback(skb, &segment, at, bpf_htonl((__u32)feedback));
		add(&counters.written, segments);
	}
}

SEC("tc")
int router_xcp(struct __sk_buff *skb)
{
	struct record passed = { 0 };

	pass_xcp(skb, &passed);
	add(&counters.settled, passed.segments);
	record(&passed);
	return PASS;
}

SEC("tc")
int router_loss(struct __sk_buff *skb)
{
	if (!guided())
		return PASS;
	if (loses(wire_size(skb))) {
		add(&counters.lost, 1);
		return DROP;
	}
	add(&counters.unlost, 1);
	return PASS;
}

struct beat_arguments {
	__u64 hold_ns;
	__u64 now_ns; /* result: the kernel's monotonic clock */
};

/*
 * Records that the daemon is alive, and that its instructions are valid for `hold_ns`. The time is the
 * kernel's own, so that the daemon's clock (a time namespace, a step) cannot make old instructions look new.
 */
SEC("syscall")
int beat(struct beat_arguments *arguments)
{
	arguments->now_ns = bpf_ktime_get_ns();
	guidance.valid_until = arguments->now_ns + arguments->hold_ns;
	return 0;
}
