//! Queues, router protocols and what they believe of their links.

use airpath_estimate::declare::CapacitySources;
use airpath_model::XcpForm;
use serde::{Deserialize, Serialize};

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

/// A capacity source in a plan.
pub type SourcePlan = ComponentPlan<CapacitySources>;

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
