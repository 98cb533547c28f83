//! One direction of a link.

use airpath_channel::declare::{Arqs, Losses};
use serde::{Deserialize, Serialize};

use super::{ComponentPlan, Draw, QueuePlan};

/// Losses in bursts.
pub type BurstPlan = ComponentPlan<Losses>;

/// Link-layer retransmission.
pub type ArqPlan = ComponentPlan<Arqs>;

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
    /// Losses in bursts, instead of `loss`, which is then 0.
    pub bursts: Option<BurstPlan>,
    /// Link-layer retransmission; without it damaged packets are lost.
    pub arq: Option<ArqPlan>,
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
