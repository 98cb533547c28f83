/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A connection: the kernel's view of it for the module, and what the shim needs in addition. */
#ifndef AIRPATH_FLOW_H
#define AIRPATH_FLOW_H

#include "airpath/kernel.h"
#include "airpath_controller.h"
#include "calls.h"
#include "parameters.h"

/* What modules report to `ss -i`. */
enum { SHOWN_STATE, SHOWN_RTT, SHOWN_MIN_RTT, SHOWN_PACING_GAIN, SHOWN_WINDOW_GAIN, SHOWN_ALPHA, SHOWN };

struct flow {
	struct tcp_sock tp; /* first: modules have a pointer to its socket */
	struct net net;
	const struct airpath_controller *functions; /* of the copy of the library with its parameters */
	const struct airpath_host *host;
	u32 mss, initial_window; /* bytes; packets */
	bool started;            /* the module's init was called */
	u64 una, next, delivered, lost, marked; /* payload since the beginning, bytes */
	u64 skipped; /* lost payload that QUIC has retransmitted under other numbers: part of una and delivered */
	u64 random;
	/* A signal whose acknowledgment has not come yet. */
	struct airpath_congestion signal;
	bool has_signal;
	/* Where `delivered` was when the module declared the application to be the limit (tp->app_limited). */
	u32 limited_from, limited_to;
	bool limited;
	/* The packets that are out, for modules that want to know which of them were lost (losses.c). */
	struct tcp_skb_cb *departures;
	u32 departures_size; /* a power of two */
	u64 lost_up_to;      /* payload before it was reported lost */
	double shown[SHOWN];
	char error[AIRPATH_LONGEST_ERROR];
};

static inline struct sock *socket_of(struct flow *flow) { return &flow->tp.inet_conn.sk; }
static inline struct flow *flow_of(struct sock *sk) { return (struct flow *)sk; }
static inline const struct tcp_congestion_ops *module_of(struct flow *flow) { return flow->tp.inet_conn.icsk_ca_ops; }
/* Amounts of payload are rounded up: the last packet may be short. */
static inline u32 packets(const struct flow *flow, u64 bytes) { return (bytes + flow->mss - 1) / flow->mss; }
static inline u64 microseconds(u64 ns) { return ns / 1000; }

/* accounting.c: fields of the connection from events. */
void set_clocks(struct flow *flow, u64 now);
void take_rtt(struct flow *flow, const struct airpath_rtt *rtt);
void take_amounts(struct flow *flow, u64 in_flight);
void take_ack(struct flow *flow, const struct airpath_ack *ack);
void take_rate(struct flow *flow, const struct airpath_ack *ack, struct rate_sample *sample);
void watch_limit(struct flow *flow);
void skip_lost(struct flow *flow, u64 in_flight);

/* states.c: what the kernel does around a module. */
void notify(struct flow *flow, enum tcp_ca_event event);
void enter_recovery(struct flow *flow, bool marked);
void enter_loss(struct flow *flow, u32 consecutive);
void follow_state(struct flow *flow, const struct airpath_ack *ack);
void undo_reduction(struct flow *flow);
void reduce_proportionally(struct flow *flow, u32 newly_delivered, u32 newly_lost, bool advanced);
void update_pacing_rate(struct flow *flow);
void restart_after_idle(struct flow *flow);

/* losses.c: lost packets, one by one. */
void note_departure(struct flow *flow, const struct airpath_sent *sent);
void report_lost(struct flow *flow, u64 bytes);

/* order.c: what each event of airpath makes of these (calls.h). */
void start(struct flow *flow, u64 rtt_ns);

/* answer.c */
void answer(struct flow *flow, struct airpath_control *control);
void show(struct flow *flow);

/* copies.c: one copy of the library for each set of values of parameters. */
const struct airpath_controller *copy_for(const struct airpath_value *values, u32 count, const char **problem);
/* The functions of this copy, which may be called once its parameters are set. */
extern const struct airpath_controller airpath_functions;

#endif
