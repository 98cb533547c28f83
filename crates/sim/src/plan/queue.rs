//! Queues, router protocols and what they believe of their links.

use airpath_estimate::declare::CapacitySources;
use airpath_model::{QueueUnit, XcpForm};
use serde::{Deserialize, Serialize};

use super::declared::declared_or_listed;
use super::{ComponentPlan, ManagementPlan};

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
    /// Active queue management, or a scheduler.
    Managed {
        /// Most bytes that wait.
        limit_bytes: Option<u64>,
        /// Most packets that wait.
        limit_packets: Option<u64>,
        /// How it is managed.
        management: ManagementPlan,
    },
}

impl QueuePlan {
    /// Most bytes and most packets that wait.
    pub const fn limits(&self) -> (Option<u64>, Option<u64>) {
        match *self {
            Self::DropTail { limit_bytes, limit_packets }
            | Self::Router { limit_bytes, limit_packets, .. }
            | Self::Managed { limit_bytes, limit_packets, .. } => (limit_bytes, limit_packets),
        }
    }
}

/// A router protocol and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProtocolPlan {
    /// XCP.
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
        /// Whose bytes share negative feedback: all.
        negative_share: NegativeSharePlan,
        /// What Υ of a source that probes multiplies: the capacity.
        upsilon_on: UpsilonOnPlan,
        /// Feedback changes the rate or the window.
        form: XcpFormPlan,
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
    },
    /// QFCP.
    Qfcp {
        /// Gain on the queue: 0.5.
        beta: f64,
        /// Control interval, nanoseconds: longer than the round trips.
        interval_ns: u64,
    },
    /// ABC.
    Abc {
        /// Target utilisation: 0.98.
        target: f64,
        /// In what time a queue that is too long is drained, nanoseconds.
        delta_ns: u64,
        /// The queueing delay from which on the target rate falls, nanoseconds.
        delay_threshold_ns: u64,
        /// The window of the dequeue rate, nanoseconds.
        window_ns: u64,
        /// The most accelerates that are saved up: 5.
        token_limit: f64,
    },
}

/// A capacity source and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
pub enum SourcePlan {
    /// A number that somebody configured.
    Configured {
        /// Bits per second.
        bps: u64,
    },
    /// The truth.
    Oracle {
        /// Over what it is averaged where a link has opportunities instead of a rate, nanoseconds.
        #[serde(default = "oracle_averaging_ns")]
        averaging_ns: u64,
    },
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
    /// EBE.
    Ebe {
        /// Which reading of the papers' filter.
        profile: EbeProfilePlan,
        /// Which queue of an interval is measured: the mean of its samples.
        sampled_queue: QueueSignalPlan,
        /// How capacity follows from the filter.
        monitor: MonitorPlan,
        /// How the queue maintainer acts.
        maintainer: MaintainerPlan,
        /// Whose arrivals are taken off the capacity: the protocol's. EBE's own serve XCP only.
        spare_arrivals: SpareArrivalsPlan,
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
        /// What queue and arrivals are counted in: bytes.
        unit: QueueUnit,
        /// Size of one packet in the filter's queue, bytes.
        packet_bytes: u64,
        /// The measurement timer: 10 ms.
        sampling_ns: u64,
        /// The estimation timer: 200 ms.
        interval_ns: u64,
    },
    /// A component that declares itself.
    #[serde(skip)]
    Declared(ComponentPlan<CapacitySources>),
}

declared_or_listed!(SourcePlan, ["configured", "oracle", "xcp-b", "ebe"]);

/// Which queue of an interval XCP-b or EBE looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSignalPlan {
    /// The shortest.
    Minimum,
    /// The mean over time, or of samples.
    Mean,
    /// The last.
    Last,
}

/// Whose bytes share XCP's negative feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegativeSharePlan {
    /// All that arrived.
    All,
    /// Those of packets that feedback can be written on.
    Data,
}

/// In which form XCP computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum XcpFormPlan {
    /// Changes of rate.
    Rate,
    /// Changes of window.
    Window,
}

impl From<XcpFormPlan> for XcpForm {
    fn from(plan: XcpFormPlan) -> Self {
        match plan {
            XcpFormPlan::Rate => Self::Rate,
            XcpFormPlan::Window => Self::Window,
        }
    }
}

/// What XCP multiplies by Υ of a source that probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpsilonOnPlan {
    /// The capacity.
    Capacity,
    /// The spare bandwidth.
    Spare,
    /// The feedback.
    Feedback,
    /// The feedback where it is positive.
    PositiveFeedback,
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
    /// R and Ψ as shares of the buffer.
    Normalised,
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
    /// On only while the condition to switch on holds.
    Strict,
    /// On whenever the queue is below the threshold.
    BelowThreshold,
    /// Never.
    Off,
}

/// Whose arrivals are taken off EBE's capacity, for the spare bandwidth that XCP asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpareArrivalsPlan {
    /// Those of the protocol's control interval.
    Protocol,
    /// Those of EBE's estimation interval.
    Estimator,
}

/// What plans of before meant that did not say it.
const fn oracle_averaging_ns() -> u64 {
    200_000_000
}
