/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * airpath_controller.h: a congestion controller in a shared library.
 *
 * The library exports the function airpath_controller, which returns a table of functions. airpath calls
 * create once for each connection, and then the other functions with the instance that create returned. For
 * a controller of three functions, airpath_easy.h makes the table. airpath_components.h has other kinds of
 * components.
 *
 * Units: times are nanoseconds since the start of the run, amounts are bytes of payload, rates are bit/s of
 * payload.
 *
 * Answers: each function writes what the controller allows to struct airpath_control, which contains the
 * previous answer when the function is called. airpath checks every answer; an impossible one ends the run.
 *
 * Errors: a function that fails returns a number other than 0 (create: NULL) and may point the member `error`
 * to its reason. This ends the run. No C++ exception and no longjmp may leave the library.
 *
 * Threads: an instance is used by one thread at a time, not always the same one. Several instances are used
 * at the same time. They must not share anything that changes.
 *
 * Versions: fields are only added, at the end of a struct, with a new minor version. Each struct begins with
 * its size, so that a library reads or writes a field of a later minor version only if AIRPATH_HAS is true.
 * Unknown flags are zero. Anything else is a new major version, which airpath refuses to load.
 */
#ifndef AIRPATH_CONTROLLER_H
#define AIRPATH_CONTROLLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AIRPATH_ABI_MAJOR 1u
#define AIRPATH_ABI_MINOR 1u
#define AIRPATH_ABI (AIRPATH_ABI_MAJOR << 16 | AIRPATH_ABI_MINOR)

/* A time that does not come, and a threshold without a bound. */
#define AIRPATH_NEVER UINT64_MAX

/* Whether the struct that was passed has a field. */
#define AIRPATH_HAS(pointer, field) \
	((size_t)((const char *)(&(pointer)->field + 1) - (const char *)(pointer)) <= (pointer)->size)

#if defined(_WIN32)
#define AIRPATH_EXPORT __declspec(dllexport)
#else
#define AIRPATH_EXPORT __attribute__((visibility("default")))
#endif

/* ---- Parameters ------------------------------------------------------------------------------------------ */

enum {
	AIRPATH_BOOL = 0,
	AIRPATH_INTEGER = 1,
	AIRPATH_NUMBER = 2,
	AIRPATH_CHOICE = 3, /* one of several words */
	AIRPATH_TIME = 4,   /* users write "25ms"; the controller has nanoseconds */
	AIRPATH_RATE = 5,   /* users write "12mbps"; the controller has bit/s */
	AIRPATH_SIZE = 6    /* users write "64kB"; the controller has bytes */
};

enum {
	AIRPATH_ABOVE_LEAST = 1u << 0, /* `least` itself is not accepted */
	AIRPATH_BELOW_MOST = 1u << 1   /* `most` itself is not accepted */
};

struct airpath_value {
	double number;    /* of AIRPATH_NUMBER */
	int64_t integer;  /* of all other kinds; true is 1; of a choice its place in the list, from 0 */
};

struct airpath_parameter {
	uint32_t size;
	uint32_t kind;
	const char *name;             /* letters, digits and _ */
	const char *help;             /* one line */
	struct airpath_value initial; /* its default */
	/* The range of AIRPATH_INTEGER and AIRPATH_NUMBER; every number if both are equal. Infinity is no bound. A
	 * time, rate or size has no range except 0 with AIRPATH_ABOVE_LEAST: more than 0. */
	double least;
	double most;
	const char *choices;          /* the words of AIRPATH_CHOICE, with spaces between them */
	uint32_t flags;
	uint32_t reserved;
};

/* ---- A connection ---------------------------------------------------------------------------------------- */

/* Numbers of quantities that every controller may record: bandwidth before any filter, and its estimate. */
#define AIRPATH_BANDWIDTH_SAMPLE 0xfffffffeu
#define AIRPATH_BANDWIDTH 0xffffffffu

/* Functions of airpath for one instance. They may be called only during a function of the instance, except
 * create and destroy. */
struct airpath_host {
	uint32_t size;
	uint32_t reserved;
	void *context; /* the first argument of each function */
	/* Records a value of a quantity: its place in `quantities` of the table, from 0. */
	void (*record)(void *context, uint32_t quantity, double value);
	/* Since minor version 1, of queue disciplines (airpath_components.h); NULL for others: */
	/* Drops a packet of the queue; `reason` is AIRPATH_DROP_... */
	void (*drop)(void *context, uint64_t packet, uint32_t reason);
	/* Marks a packet of the queue (congestion experienced), if it is AIRPATH_PACKET_ECN_CAPABLE. */
	void (*mark)(void *context, uint64_t packet);
};

/* What is known before the first packet. */
struct airpath_connection {
	uint32_t size;
	uint32_t mss;                       /* the largest payload of a packet */
	uint64_t initial_window;
	uint64_t handshake_rtt;             /* the round-trip time of the handshake; 0: none */
	uint64_t seed;                      /* for random numbers: follows from the seed of the run */
	const struct airpath_value *values; /* of all parameters, in the order of the table; valid during the call */
	const struct airpath_host *host;    /* valid as long as the instance */
};

/* ---- Answers --------------------------------------------------------------------------------------------- */

enum {
	AIRPATH_PACING_FROM_WINDOW = 0, /* by window and smoothed RTT, if the scenario paces; otherwise as OFF */
	AIRPATH_PACING_OFF = 1,         /* packets that the window allows leave at once */
	AIRPATH_PACING_AT_RATE = 2      /* at `pacing_rate` */
};

/* For tables and figures. */
enum {
	AIRPATH_PHASE_STEADY = 0,
	AIRPATH_PHASE_SLOW_START = 1,
	AIRPATH_PHASE_CONGESTION_AVOIDANCE = 2,
	AIRPATH_PHASE_CONSERVATIVE_SLOW_START = 3,
	AIRPATH_PHASE_DRAIN = 4,
	AIRPATH_PHASE_PROBE_DOWN = 5,
	AIRPATH_PHASE_PROBE_CRUISE = 6,
	AIRPATH_PHASE_PROBE_REFILL = 7,
	AIRPATH_PHASE_PROBE_UP = 8,
	AIRPATH_PHASE_PROBE_RTT = 9,
	AIRPATH_PHASE_SLOWDOWN = 10
};

enum {
	/* The last congestion signal was an error of the path, and nothing was reduced. Unset before each signal. */
	AIRPATH_CONTROL_DISMISSED = 1u << 0
};

/* What the transport must deliver, or the run is refused. */
enum {
	AIRPATH_NEEDS_PACING = 1u << 0,
	AIRPATH_NEEDS_RATE_SAMPLES = 1u << 1,
	AIRPATH_NEEDS_ECN = 1u << 2,
	AIRPATH_NEEDS_ACCURATE_ECN = 1u << 3,
	AIRPATH_NEEDS_RECEIVER_TIME = 1u << 4,
	AIRPATH_NEEDS_WINDOW_IN_RECOVERY = 1u << 5 /* no proportional rate reduction while losses are repaired */
};

struct airpath_control {
	uint32_t size;
	uint32_t flags;       /* AIRPATH_CONTROL_... */
	uint64_t window;      /* the most payload in flight, 1 to 2^30; at first the initial window */
	uint64_t pacing_rate; /* of AIRPATH_PACING_AT_RATE, 1 to 10^15 */
	uint64_t quantum;     /* the most payload that leaves back to back, 1 to 2^30; at first two packets */
	uint64_t ssthresh;    /* slow-start threshold for tables; AIRPATH_NEVER, as at first: none */
	uint64_t next_timer;  /* when on_timer is to be called; AIRPATH_NEVER, as at first and in on_timer: not */
	const char *error;    /* the reason of a failure; valid until the next call */
	uint32_t pacing;      /* AIRPATH_PACING_...; at first AIRPATH_PACING_FROM_WINDOW */
	uint32_t phase;       /* AIRPATH_PHASE_... */
	/* Read after create only: */
	uint32_t needs;       /* AIRPATH_NEEDS_... */
	uint32_t reserved;
	uint64_t longest_report_interval; /* the longest time between calls of on_ack; AIRPATH_NEVER, as at first: any */
};

/* ---- Events ---------------------------------------------------------------------------------------------- */

struct airpath_rtt {
	uint64_t latest; /* 0, as all: no sample yet */
	uint64_t smoothed;
	uint64_t variation;
	uint64_t minimum;
};

enum {
	AIRPATH_ACK_DUPLICATE = 1u << 0,              /* acknowledges nothing new in order while data is outstanding */
	AIRPATH_ACK_WINDOW_LIMITED = 1u << 1,         /* the window limited the acknowledged flight: it may grow */
	AIRPATH_ACK_IN_RECOVERY = 1u << 2,            /* losses are being repaired */
	AIRPATH_ACK_CONGESTION_EXPERIENCED = 1u << 3, /* the receiver reports an ECN mark */
	AIRPATH_ACK_HIDDEN_DUPLICATE = 1u << 4,       /* a duplicate whose repair is hidden from the controller */
	AIRPATH_ACK_RTT_SAMPLE = 1u << 5,             /* rtt_sample is known */
	AIRPATH_ACK_LATEST_SENT = 1u << 6,            /* latest_sent_at is known */
	AIRPATH_ACK_RATE_SAMPLE = 1u << 7,            /* the fields rate_... are known */
	AIRPATH_ACK_APP_LIMITED = 1u << 8,            /* the application limited the rate sample */
	AIRPATH_ACK_RECEIVER_TIME = 1u << 9           /* receiver_time is known */
};

/* An acknowledgment. */
struct airpath_ack {
	uint32_t size;
	uint32_t flags;                /* AIRPATH_ACK_... */
	uint64_t now;
	uint32_t mss;
	uint32_t reserved;
	uint64_t acked;                /* newly acknowledged, in order or selectively */
	uint64_t advance;              /* by how much the acknowledgment in order advanced */
	uint64_t newly_lost;           /* found lost */
	uint64_t in_flight_before;     /* in flight before this acknowledgment */
	uint64_t in_flight;            /* in flight after it */
	uint64_t in_flight_at_send;    /* in flight when the newest acknowledged packet was sent */
	uint64_t latest_sent_at;       /* when that packet was sent */
	uint64_t rtt_sample;
	struct airpath_rtt rtt;
	uint64_t rate_delivered;       /* delivery-rate sample: amount, time and what was lost meanwhile */
	uint64_t rate_lost;
	uint64_t rate_interval;
	uint64_t rate_prior_delivered; /* total delivered when the newest acknowledged packet was sent */
	uint64_t round;                /* round trips since the connection began */
	uint64_t marked;               /* arrived marked since the last acknowledgment (accurate ECN) */
	uint64_t receiver_time;        /* the receiver's clock when it sent the acknowledgment (TCP timestamps) */
};

enum {
	AIRPATH_LOSS = 0,   /* once for each window of data */
	AIRPATH_MARK = 1,   /* an echoed ECN mark, at most once a round trip */
	AIRPATH_TIMEOUT = 2 /* each expiry of the retransmission timer */
};

/* A congestion signal. If an acknowledgment brings it, on_ack follows. */
struct airpath_congestion {
	uint32_t size;
	uint32_t flags;
	uint64_t now;
	uint32_t mss;
	uint32_t signal;      /* AIRPATH_LOSS, AIRPATH_MARK or AIRPATH_TIMEOUT */
	uint64_t flight_size; /* sent and not acknowledged in order */
	uint64_t lost;        /* found lost with this signal */
	struct airpath_rtt rtt;
	uint32_t consecutive; /* expiries of the timer since the last new acknowledgment */
	uint32_t reserved;
};

enum {
	AIRPATH_SENT_RETRANSMISSION = 1u << 0,
	AIRPATH_SENT_APP_LIMITED = 1u << 1 /* the application had run out of data */
};

/* A data packet that leaves. */
struct airpath_sent {
	uint32_t size;
	uint32_t flags;     /* AIRPATH_SENT_... */
	uint64_t now;
	uint32_t mss;
	uint32_t reserved;
	uint64_t payload;
	uint64_t in_flight; /* this packet included */
	struct airpath_rtt rtt;
};

/* ---- The table ------------------------------------------------------------------------------------------- */

struct airpath_controller {
	uint32_t size;
	uint32_t abi;                               /* AIRPATH_ABI */
	const char *title;                          /* its name in figures */
	const char *description;                    /* one line */
	const struct airpath_parameter *parameters; /* NULL if there are none */
	uint32_t parameter_count;
	uint32_t reserved;
	const char *quantities;                     /* names of recorded quantities, with spaces between them; or NULL */

	/* Returns a new instance, or NULL. The answer may be left as it is. */
	void *(*create)(const struct airpath_connection *connection, struct airpath_control *control);
	/* Frees an instance. */
	void (*destroy)(void *instance);
	int (*on_ack)(void *instance, const struct airpath_ack *ack, struct airpath_control *control);
	int (*on_congestion)(void *instance, const struct airpath_congestion *congestion, struct airpath_control *control);
	/* The following may be NULL. */
	int (*on_sent)(void *instance, const struct airpath_sent *sent, struct airpath_control *control);
	/* All packets that were believed lost have been delivered: the last signal was false. */
	int (*on_spurious)(void *instance, uint64_t now, struct airpath_control *control);
	/* The time in next_timer has come. */
	int (*on_timer)(void *instance, uint64_t now, struct airpath_control *control);
};

/* Returns the controller of the library, which is never changed. `host_abi` is AIRPATH_ABI of airpath. */
AIRPATH_EXPORT const struct airpath_controller *airpath_controller(uint32_t host_abi);

#ifdef __cplusplus
}
#endif
#endif
