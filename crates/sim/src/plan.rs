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
    /// Drop-tail under a router protocol.
    Router {
        /// Most bytes that wait.
        limit_bytes: Option<u64>,
        /// Most packets that wait.
        limit_packets: Option<u64>,
        /// What the router computes and writes on packets.
        protocol: ProtocolPlan,
        /// What it believes its link can carry.
        source: SourcePlan,
    },
}

impl QueuePlan {
    /// Most bytes and most packets that wait.
    pub const fn limits(&self) -> (Option<u64>, Option<u64>) {
        match *self {
            Self::DropTail { limit_bytes, limit_packets }
            | Self::Router { limit_bytes, limit_packets, .. } => (limit_bytes, limit_packets),
        }
    }
}

/// A router protocol and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProtocolPlan {
    /// XCP in the rate form.
    Xcp {
        /// Gain on spare bandwidth: 0.4.
        alpha: f64,
        /// Gain on the queue: 0.226.
        beta: f64,
        /// Share of traffic that is shuffled: 0.1.
        gamma: f64,
        /// Shortest control interval, nanoseconds.
        min_interval_ns: u64,
        /// Longest control interval, and cap of each packet's RTT, nanoseconds.
        max_interval_ns: u64,
    },
    /// VCP.
    Vcp {
        /// The load-factor interval, nanoseconds.
        interval_ns: u64,
        /// The queue-sampling interval, nanoseconds.
        sampling_ns: u64,
        /// Drain speed of the steady queue: 0.5.
        kappa_q: f64,
        /// Target utilisation: 0.98.
        target: f64,
        /// Weight of the newest interval in the steady queue: 0.25.
        queue_weight: f64,
    },
    /// MPCP.
    Mpcp {
        /// The load-factor interval, nanoseconds.
        interval_ns: u64,
        /// The queue-sampling interval, nanoseconds.
        sampling_ns: u64,
        /// Drain speed of the steady queue.
        kappa_q: f64,
        /// Target utilisation.
        target: f64,
        /// Weight of the newest interval in the steady queue.
        queue_weight: f64,
        /// Packets that carry one word: 2 for DPCP.
        digits: u8,
    },
    /// QFCP.
    Qfcp {
        /// Gain on the queue: 0.5.
        beta: f64,
        /// Shortest interval, nanoseconds.
        min_interval_ns: u64,
        /// Longest interval, nanoseconds.
        max_interval_ns: u64,
    },
}

/// A capacity source and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourcePlan {
    /// A number that somebody configured.
    Configured {
        /// Bits per second.
        bps: u64,
    },
    /// The truth.
    Oracle,
    /// Blind XCP: spare bandwidth from the variation of the queue.
    XcpB {
        /// Target queue as a share of the buffer: 0.
        kappa: f64,
        /// Probing step as a share of the buffer: 0.2.
        chi: f64,
        /// Empty intervals before probing: 2.
        late_reaction: u32,
        /// Which queue of the interval counts.
        signal: QueueSignalPlan,
    },
    /// QFCP's: the output rate while busy, growing while idle.
    Qfcp {
        /// First estimate, bits per second.
        initial_bps: u64,
        /// Upper bound, bits per second.
        max_bps: u64,
        /// Growth for each idle interval: 1.05.
        growth: f64,
        /// Interval, nanoseconds.
        interval_ns: u64,
    },
    /// EBE.
    Ebe {
        /// Which reading of the papers' filter.
        profile: EbeProfilePlan,
        /// How capacity follows from the filter.
        monitor: MonitorPlan,
        /// How the queue maintainer acts.
        maintainer: MaintainerPlan,
        /// Its threshold as a share of the buffer: 0.15.
        threshold: f64,
        /// Υ: 1.40 for XCP, 1.14 for VCP.
        upsilon: f64,
        /// First estimate, bits per second.
        initial_bps: u64,
        /// Lower bound of the estimate, bits per second, greater than zero.
        min_bps: u64,
        /// Upper bound of the estimate, bits per second.
        max_bps: u64,
        /// Size of one packet in the filter's queue, bytes.
        packet_bytes: u64,
        /// The measurement timer: 10 ms.
        sampling_ns: u64,
        /// The estimation timer: 200 ms.
        interval_ns: u64,
    },
}

/// Which queue of an interval XCP-b looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSignalPlan {
    /// The shortest.
    Minimum,
    /// The mean over time.
    Mean,
    /// The last.
    Last,
}

/// Which reading of EBE's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EbeProfilePlan {
    /// R = 1e-5 (EBE-C, table I); the default.
    Icc,
    /// R by running variance, as EBE-J prints it.
    Journal,
    /// R and Ψ from Poisson counting noise.
    Counting,
    /// EBE-C's linear filter.
    Linear,
    /// No filter: the mean of the samples.
    None,
}

/// How EBE's link-capacity monitor works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MonitorPlan {
    /// Arrival rate plus spare bandwidth (the papers).
    Plain,
    /// Corrected for the idle time that the filter predicts.
    IdleCorrected,
    /// Plain, but an empty queue may not lower the estimate.
    Hold,
}

/// How EBE's queue maintainer acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaintainerPlan {
    /// On and off with memory.
    Latch,
    /// On whenever the queue is below the threshold.
    BelowThreshold,
    /// Never.
    Off,
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
    /// XCP's sender.
    Xcp {
        /// A loss halves the window, as in ns-2; without, it is only repaired.
        halve_on_loss: bool,
    },
    /// VCP's sender.
    Vcp {
        /// Which RTT scales increases.
        rtt_scaling: RttScalingPlan,
        /// Break points and reference of the additive increase.
        bounds: VcpBoundsPlan,
        /// What an overload freezes.
        freeze: FreezePlan,
        /// MI's gain κ: 0.25.
        kappa: f64,
        /// AI's α in packets for each t_ρ: 1.
        alpha: f64,
        /// MD's factor: 0.875.
        beta: f64,
        /// t_ρ, nanoseconds.
        interval_ns: u64,
        /// Spread small windows over the round trip.
        pace_small_windows: bool,
    },
    /// MPCP's sender.
    Mpcp {
        /// Which RTT scales increases.
        rtt_scaling: RttScalingPlan,
        /// Packets that carry one word.
        digits: u8,
        /// t_ρ, nanoseconds.
        interval_ns: u64,
    },
    /// QFCP's sender.
    Qfcp {},
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

/// Which round-trip time scales VCP's increases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttScalingPlan {
    /// The smallest one seen.
    Minimum,
    /// The smoothed one.
    Smoothed,
    /// None: increases are per round trip.
    Unscaled,
}

/// Bounds of VCP's increases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcpBoundsPlan {
    /// The paper's reference of 200 ms with break points at 20 and 500 ms.
    Spec,
    /// The authors' code: 100 ms.
    Author,
}

/// What VCP does during the freeze after an overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreezePlan {
    /// The window does not change at all.
    All,
    /// Only further decreases are suppressed, as in the authors' code.
    DecreasesOnly,
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
