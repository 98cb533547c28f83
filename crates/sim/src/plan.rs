//! The resolved scenario: what a run needs and nothing else, in integers with fixed units.
//!
//! The scenario language (TOML with units, named topologies, defaults) is resolved into this form by the front
//! end; the JSON text of a plan is the contract between the two, and part of a result's provenance. Links and
//! flows are lists; everything refers to them by index.

use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// How long the run lasts, in nanoseconds.
    pub duration_ns: u64,
    /// What is measured and kept.
    pub record: RecordPlan,
    /// Directed links.
    pub links: Vec<LinkPlan>,
    /// Sources of traffic. One entry may produce several flows (short flows arriving at random).
    pub flows: Vec<FlowPlan>,
}

/// What is measured and kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordPlan {
    /// Summaries count from here on (end of warm-up), in nanoseconds.
    pub measure_from_ns: u64,
    /// Width of one row of the time series, in nanoseconds.
    pub interval_ns: u64,
    /// Keep one row per data packet that reaches its receiver.
    pub packets: bool,
    /// Links at whose entrance packets are captured (pcapng, one interface per link).
    pub capture: Vec<usize>,
}

/// One direction of a link: a queue, a channel, a delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Unique name; also the path of its random streams (`link/NAME/…`).
    pub name: String,
    /// Rate over time.
    pub rate: RatePlan,
    /// Propagation delay in nanoseconds, drawn once for each run.
    pub delay_ns: Draw,
    /// Extra delay drawn for each packet, in nanoseconds; packets never overtake.
    pub jitter_ns: Option<Draw>,
    /// Probability that a packet is damaged, independently of others.
    pub loss: f64,
    /// The queue in front of it.
    pub queue: QueuePlan,
    /// Whether time series and summary are recorded for it.
    pub record: bool,
}

/// Rate over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RatePlan {
    /// No transmission time at all.
    Unlimited,
    /// One rate.
    Constant {
        /// Bits per second, greater than zero.
        bps: u64,
    },
    /// A schedule: each rate holds until the next step.
    Steps {
        /// (start in nanoseconds, bits per second); starts strictly increase, the first is 0. Zero is an outage.
        steps: Vec<(u64, u64)>,
        /// Start over after this many nanoseconds; `None` keeps the last rate.
        repeat_after_ns: Option<u64>,
    },
    /// A fresh uniform rate for each interval.
    Uniform {
        /// Lowest rate, bits per second.
        low_bps: u64,
        /// Highest rate, bits per second.
        high_bps: u64,
        /// How long each rate holds, nanoseconds.
        hold_ns: u64,
        /// The rate of the first interval; drawn like the others when absent.
        initial_bps: Option<u64>,
        /// Links with the same key draw the same rates (both directions of one radio link); the link's name
        /// when absent.
        stream: Option<String>,
    },
    /// Packet-delivery opportunities from trace number `trace` of the run's inputs.
    Opportunities {
        /// Index into the inputs.
        trace: usize,
        /// Stop at the end of the trace instead of starting over.
        once: bool,
    },
    /// A rate log, trace number `trace` of the run's inputs.
    RateLog {
        /// Index into the inputs.
        trace: usize,
        /// Stop at the end of the trace instead of starting over.
        once: bool,
    },
}

/// A number, fixed or drawn from the component's own stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    /// Always this.
    Constant {
        /// The value.
        value: f64,
    },
    /// Uniform on [low, high).
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: f64,
    },
}

/// A queue discipline and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueuePlan {
    /// First in, first out; arrivals that do not fit are dropped. At most one limit; none means no limit.
    DropTail {
        /// Most bytes that wait.
        limit_bytes: Option<u64>,
        /// Most packets that wait.
        limit_packets: Option<u64>,
    },
}

/// A source of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Unique name; also the path of its random streams (`flow/NAME/…`).
    pub name: String,
    /// Links from the sender to the receiver, in order.
    pub path: Vec<usize>,
    /// Links from the receiver back to the sender.
    pub reverse_path: Vec<usize>,
    /// The link at whose exit throughput is measured: an element of `path`.
    pub measured_at: usize,
    /// When it starts, nanoseconds.
    pub start_ns: Draw,
    /// When it stops sending new data, nanoseconds; `None` runs to the end.
    pub stop_ns: Option<Draw>,
    /// What it sends.
    pub traffic: TrafficPlan,
    /// How it is controlled; absent for datagrams.
    pub controller: Option<ControllerPlan>,
    /// How it is transported; absent for datagrams.
    pub transport: Option<TransportPlan>,
}

/// What a source sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficPlan {
    /// Always more data (a long-lived flow).
    Bulk,
    /// One file.
    File {
        /// Its size.
        bytes: u64,
    },
    /// Files one after the other over fresh connections, with a pause between.
    Repeated {
        /// Size of each, bytes.
        bytes: Draw,
        /// Pause between the end of one and the start of the next, nanoseconds.
        pause_ns: Draw,
    },
    /// Files that arrive by a Poisson process, each a flow of its own.
    Arrivals {
        /// Size of each, bytes.
        bytes: Draw,
        /// Mean time between arrivals, nanoseconds.
        mean_interval_ns: f64,
    },
    /// Datagrams at a constant bit rate (UDP), with optional silent periods.
    ConstantBitRate {
        /// Rate on the wire while on, bits per second.
        bps: u64,
        /// Size of one datagram on the wire, bytes.
        packet_bytes: u64,
        /// Length of an on period, nanoseconds; `None` is always on.
        on_ns: Option<Draw>,
        /// Length of an off period, nanoseconds.
        off_ns: Option<Draw>,
        /// Begin with an off period.
        start_off: bool,
    },
    /// Datagrams that arrive by a Poisson process.
    PoissonDatagrams {
        /// Mean rate on the wire, bits per second.
        bps: u64,
        /// Size of one datagram on the wire, bytes (drawn for each).
        packet_bytes: Draw,
    },
}

/// How data is transported (TCP).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransportPlan {
    /// Largest payload of one segment, bytes.
    pub mss_bytes: u64,
    /// Bytes of headers on each data segment (IP, TCP, options).
    pub header_bytes: u64,
    /// Size of an acknowledgment on the wire, bytes.
    pub ack_bytes: u64,
    /// Initial window, bytes.
    pub initial_window_bytes: u64,
    /// Receive window, bytes.
    pub receive_window_bytes: u64,
    /// Loss recovery.
    pub recovery: RecoveryPlan,
    /// Find lost retransmissions (as RACK and Linux do) instead of waiting for the timer.
    pub lost_retransmission_detection: bool,
    /// Undo a timeout that the timestamps prove spurious (Eifel, RFC 3522 and 4015).
    pub spurious_timeout_undo: bool,
    /// Timestamps option.
    pub timestamps: bool,
    /// Segments per acknowledgment: 1 acknowledges each, 2 delays.
    pub delayed_ack_segments: u32,
    /// The longest that an acknowledgment is delayed, nanoseconds.
    pub delayed_ack_timeout_ns: u64,
    /// Lower bound of the retransmission timeout, nanoseconds.
    pub min_rto_ns: u64,
    /// What the lower bound bounds.
    pub rto_floor: RtoFloorPlan,
    /// Upper bound, nanoseconds.
    pub max_rto_ns: u64,
    /// Before the first RTT sample, nanoseconds.
    pub initial_rto_ns: u64,
    /// ECN-capable data packets and echo (RFC 3168).
    pub ecn: bool,
    /// Spread packets at a gain times window over RTT when the controller gives no rate of its own.
    pub pacing: bool,
}

/// What the lower bound of the retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloorPlan {
    /// The timeout itself: max(SRTT + 4 RTTVAR, floor) (RFC 6298).
    Timeout,
    /// The variance term: SRTT + max(4 RTTVAR, floor) (Linux).
    Variance,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryPlan {
    /// SACK with proportional rate reduction (RFC 6675 and 6937).
    Prr,
    /// SACK, pipe algorithm as in RFC 6675.
    Sack,
    /// Without SACK: RFC 6582.
    Newreno,
}

/// A congestion controller and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControllerPlan {
    /// NewReno (RFC 5681, 6582).
    Newreno {
        /// What growth in congestion avoidance counts.
        counting: CountingPlan,
        /// Slow start.
        slow_start: SlowStartPlan,
    },
    /// CUBIC (RFC 9438 and the form of 2008).
    Cubic {
        /// C, segments per second cubed.
        c: f64,
        /// The part of the window that is kept at a loss: 0.7 today, 0.8 in 2008.
        beta: f64,
        /// Release bandwidth faster when the saturation point falls.
        fast_convergence: bool,
        /// Be at least as fast as Reno would be.
        reno_friendly: bool,
        /// Which text rules the details.
        form: CubicForm,
        /// Slow start.
        slow_start: SlowStartPlan,
    },
    /// A window that never changes.
    Fixed {
        /// Its size, bytes of payload.
        window_bytes: u64,
        /// Send at this rate instead of in bursts, bits per second of payload.
        pacing_bps: Option<u64>,
    },
}

/// Which text rules CUBIC's details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CubicForm {
    /// RFC 9438.
    #[serde(rename = "rfc9438")]
    Rfc9438,
    /// Ha, Rhee and Xu 2008, as in Linux 2.6.22.
    #[serde(rename = "2008")]
    Linux2008,
}

/// What growth in congestion avoidance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountingPlan {
    /// Acknowledged bytes (RFC 3465).
    Bytes,
    /// Acknowledgments (RFC 5681, equation 3; ns-2).
    Acknowledgments,
}

/// How slow start grows and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlowStartPlan {
    /// Up to two segments for an acknowledgment (RFC 3465, L = 2), until the threshold or a loss (RFC 5681).
    #[serde(rename = "standard")]
    Standard,
    /// One segment for an acknowledgment (L = 1; ns-2, and Linux in 2007), until the threshold or a loss.
    #[serde(rename = "per-acknowledgment")]
    PerAcknowledgment,
    /// HyStart++ (RFC 9406).
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
}
