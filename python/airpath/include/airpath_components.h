/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * airpath_components.h: ACK-rate estimators, capacity sources and queue disciplines in a shared library.
 *
 * Each kind has a table of functions, as controllers have, and a function that returns it:
 *
 *     airpath_estimator   estimates the bandwidth of a path from acknowledgments
 *     airpath_source      estimates the capacity of a link in its router
 *     airpath_queue       decides which packet leaves a link's queue next, and which is dropped
 *
 * A library may export several of them, also together with airpath_controller. Units, answers, errors, threads
 * and versions are as airpath_controller.h states, except that amounts of links are bytes on the wire.
 */
#ifndef AIRPATH_COMPONENTS_H
#define AIRPATH_COMPONENTS_H

#include "airpath_controller.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ACK-rate estimators --------------------------------------------------------------------------------- */

/* What is known before the first acknowledgment. */
struct airpath_settings {
	uint32_t size;
	uint32_t reserved;
	const struct airpath_value *values; /* of all parameters, in the order of the table; valid during the call */
};

enum {
	AIRPATH_ESTIMATE_SAMPLE = 1u << 0,     /* `sample` is known; unset before each call of on_ack */
	AIRPATH_ESTIMATE_BANDWIDTH = 1u << 1,  /* `bandwidth` is known */
	AIRPATH_ESTIMATE_MINIMUM_RTT = 1u << 2 /* `minimum_rtt` is known; otherwise Westwood measures it */
};

/* What acknowledgments must have for an estimate, in addition to AIRPATH_NEEDS_RATE_SAMPLES and
 * AIRPATH_NEEDS_RECEIVER_TIME. Results state if a capture lacks it. */
enum {
	AIRPATH_NEEDS_RTT = 1u << 6,          /* rtt_sample and rtt */
	AIRPATH_NEEDS_SENDING_TIMES = 1u << 7 /* latest_sent_at */
};

struct airpath_estimate {
	uint32_t size;
	uint32_t flags;       /* AIRPATH_ESTIMATE_... */
	double sample;        /* the sample of the present acknowledgment, 0 to 10^15 */
	double bandwidth;     /* the estimate, 0 to 10^15 */
	uint64_t minimum_rtt; /* the RTT by which Westwood multiplies the estimate, 0 to 10^15 */
	const char *error;    /* the reason of a failure; valid until the next call */
	/* Read after create only: */
	uint32_t needs;       /* AIRPATH_NEEDS_... of an estimator */
	uint32_t reserved;
};

struct airpath_estimator {
	uint32_t size;
	uint32_t abi;                               /* AIRPATH_ABI */
	const char *title;                          /* its name in figures */
	const char *description;                    /* one line */
	const struct airpath_parameter *parameters; /* NULL if there are none */
	uint32_t parameter_count;
	uint32_t reserved;

	/* Returns a new instance, or NULL. */
	void *(*create)(const struct airpath_settings *settings, struct airpath_estimate *estimate);
	/* Returns a copy of an instance, or NULL. It must not change the instance, which may be copied by several
	 * threads at the same time. Westwood copies its estimator at each loss, and continues with the copy if the
	 * loss was spurious. */
	void *(*copy)(const void *instance);
	/* Frees an instance. */
	void (*destroy)(void *instance);
	int (*on_ack)(void *instance, const struct airpath_ack *ack, struct airpath_estimate *estimate);
	/* The following may be NULL. */
	int (*on_congestion)(void *instance, const struct airpath_congestion *congestion,
			     struct airpath_estimate *estimate);
};

/* Returns the ACK-rate estimator of the library. */
AIRPATH_EXPORT const struct airpath_estimator *airpath_estimator(uint32_t host_abi);

/* ---- A link ---------------------------------------------------------------------------------------------- */

/* What is known before the first packet. */
struct airpath_link {
	uint32_t size;
	uint32_t reserved;
	uint64_t buffer;                    /* the buffer, in bytes also if its limit is in packets */
	/* Of a queue discipline; otherwise AIRPATH_NEVER and 0: */
	uint64_t limit_bytes;               /* the most bytes that may wait; AIRPATH_NEVER: no such limit */
	uint64_t limit_packets;             /* the most packets that may wait; AIRPATH_NEVER: no such limit */
	uint64_t seed;                      /* for random numbers: follows from the seed of the run */

	const struct airpath_value *values; /* of all parameters, in the order of the table; valid during the call */
	/* Valid as long as the instance. The last value that it records of each quantity before the end of an interval
	 * is in the table `link_observations`. */
	const struct airpath_host *host;
};

/* An instant at a link, and the backlog of its queue then. */
struct airpath_waiting {
	uint32_t size;
	uint32_t reserved;
	uint64_t now;
	uint64_t packet;  /* the size of the packet that arrives or leaves, which `bytes` excludes; 0: there is none */
	uint64_t bytes;
	uint64_t packets;
};

/* ---- Capacity sources ------------------------------------------------------------------------------------ */

enum {
	AIRPATH_CAPACITY_KNOWN = 1u << 0 /* `capacity` is known; otherwise routers assume the input rate */
};

struct airpath_capacity {
	uint32_t size;
	uint32_t flags;      /* AIRPATH_CAPACITY_... */
	double capacity;     /* the estimate, 0 to 10^15 */
	double probing;      /* the factor by which the protocol multiplies it, 0 to 10^6; at first 1 */
	uint64_t next_timer; /* when on_timer is to be called; AIRPATH_NEVER, as at first and in on_timer: not */
	const char *error;   /* the reason of a failure; valid until the next call */
	/* Read only after a call of spare: */
	double spare;        /* the bandwidth to distribute; negative if more arrives than the capacity */
	double queue;        /* the queue to drain, bytes */
};

/* What a router measured over a control interval: rates in bit/s, queues in bytes. */
struct airpath_interval {
	uint32_t size;
	uint32_t reserved;
	uint64_t now;          /* the end of the interval */
	uint64_t length;
	double input_rate;
	double probing;        /* the factor of the capacity, or 1 if the protocol multiplies another quantity */
	uint64_t mean_rtt;     /* of the flows */
	double queue;          /* the queue that the protocol drains */
	double shortest_queue;
	double mean_queue;
	double last_queue;
	double buffer;
};

struct airpath_source {
	uint32_t size;
	uint32_t abi;                               /* AIRPATH_ABI */
	const char *title;                          /* its name in figures */
	const char *description;                    /* one line */
	const struct airpath_parameter *parameters; /* NULL if there are none */
	uint32_t parameter_count;
	uint32_t reserved;
	const char *quantities;                     /* names of recorded quantities, with spaces between them; or NULL */

	/* Returns a new instance, or NULL. */
	void *(*create)(const struct airpath_link *link, struct airpath_capacity *capacity);
	/* Frees an instance. */
	void (*destroy)(void *instance);
	/* The following may be NULL, but not all of the first four. */
	/* A packet arrives, before it may be dropped. */
	int (*on_arrival)(void *instance, const struct airpath_waiting *waiting, struct airpath_capacity *capacity);
	/* A packet leaves the queue for the link. */
	int (*on_departure)(void *instance, const struct airpath_waiting *waiting, struct airpath_capacity *capacity);
	/* The time in next_timer has come. */
	int (*on_timer)(void *instance, const struct airpath_waiting *waiting, struct airpath_capacity *capacity);
	/* A control interval ends: sets `spare` and `queue`. They are probing * capacity - input_rate and the queue
	 * of the interval when it is called, and remain so without this function. */
	int (*spare)(void *instance, const struct airpath_interval *interval, struct airpath_capacity *capacity);
	/* An interval of the series ends: records quantities, and changes nothing. */
	int (*observe)(void *instance, struct airpath_capacity *capacity);
};

/* Returns the capacity source of the library. */
AIRPATH_EXPORT const struct airpath_source *airpath_source(uint32_t host_abi);

/* ---- Queue disciplines ----------------------------------------------------------------------------------- */

enum {
	AIRPATH_PACKET_FITS = 1u << 0,        /* the buffer has room for it */
	AIRPATH_PACKET_DATA = 1u << 1,        /* it carries data; otherwise it is an acknowledgment */
	AIRPATH_PACKET_ECN_CAPABLE = 1u << 2, /* it may be marked */
	AIRPATH_PACKET_ECT1 = 1u << 3,        /* its sender expects marks of an L4S queue: ECT(1) */
	AIRPATH_PACKET_MARKED = 1u << 4       /* it is marked already */
};

/* A packet that arrives. */
struct airpath_packet {
	uint32_t size;
	uint32_t flags;           /* AIRPATH_PACKET_... */
	uint64_t now;
	uint64_t id;              /* its number in this queue, not 0; another packet may have it when it has left */
	uint64_t bytes;           /* its size */
	uint64_t flow;            /* the number of its flow and direction */
	uint64_t waiting_bytes;   /* the bytes in the queue, without it */
	uint64_t waiting_packets; /* the packets in the queue, without it */
};

/* Reasons of drops, for tables. */
enum {
	AIRPATH_DROP_OVERFLOW = 0, /* the buffer was full */
	AIRPATH_DROP_EARLY = 1     /* the queue chose it before the buffer was full */
};

struct airpath_decision {
	uint32_t size;
	uint32_t reserved;
	uint64_t packet;     /* after dequeue: the id of the packet that leaves; 0, as when it is called: none */
	uint64_t next_timer; /* when on_timer is to be called; AIRPATH_NEVER, as at first and in on_timer: not */
	const char *error;   /* the reason of a failure; valid until the next call */
};

/*
 * A queue has each packet from enqueue until it returns its id from dequeue, or passes it to the function `drop` of
 * airpath_host. airpath keeps the packets and counts the backlog. A packet that leaves twice, or more packets than
 * the buffer has room for after a call, end the run.
 */
struct airpath_queue {
	uint32_t size;
	uint32_t abi;                               /* AIRPATH_ABI */
	const char *title;                          /* its name in figures */
	const char *description;                    /* one line */
	const struct airpath_parameter *parameters; /* NULL if there are none */
	uint32_t parameter_count;
	uint32_t reserved;
	const char *quantities;                     /* names of recorded quantities, with spaces between them; or NULL */

	/* Returns a new instance, or NULL. */
	void *(*create)(const struct airpath_link *link, struct airpath_decision *decision);
	/* Frees an instance. */
	void (*destroy)(void *instance);
	/* A packet arrives. It waits from now on, unless it is dropped. */
	int (*enqueue)(void *instance, const struct airpath_packet *packet, struct airpath_decision *decision);
	/* The link is free: sets the packet that leaves, if any. Also called when no packet waits. */
	int (*dequeue)(void *instance, const struct airpath_waiting *waiting, struct airpath_decision *decision);
	/* The following may be NULL. */
	/* The time in next_timer has come. */
	int (*on_timer)(void *instance, const struct airpath_waiting *waiting, struct airpath_decision *decision);
	/* An interval of the series ends: records quantities, and changes nothing. */
	int (*observe)(void *instance, struct airpath_decision *decision);
};

/* Returns the queue discipline of the library. */
AIRPATH_EXPORT const struct airpath_queue *airpath_queue(uint32_t host_abi);

#ifdef __cplusplus
}
#endif
#endif
