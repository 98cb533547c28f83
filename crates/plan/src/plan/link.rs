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
    /// Propagation delay in nanoseconds, sampled once for each run.
    pub delay_ns: Draw,
    /// Extra delay sampled for each packet, in nanoseconds; packets are never reordered.
    pub jitter_ns: Option<Draw>,
    /// Probability that a packet is corrupted, independently of others.
    pub loss: f64,
    /// Losses in bursts, instead of `loss`, which is then 0.
    pub bursts: Option<BurstPlan>,
    /// Link-layer retransmission; without it corrupted packets are lost.
    pub arq: Option<ArqPlan>,
    /// The queue of the link.
    pub queue: QueuePlan,
    /// Whether time series and summary are recorded for the link.
    pub record: bool,
}

/// Rate over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RatePlan {
    /// No transmission time.
    Unlimited,
    /// One rate.
    Constant {
        /// Bits per second, greater than zero.
        bps: u64,
    },
    /// A schedule: each rate is valid until the next step.
    Steps {
        /// (start in nanoseconds, bits per second); starts strictly increase, the first is 0. Zero is an outage.
        steps: Vec<(u64, u64)>,
        /// Restart after this many nanoseconds; `None` keeps the last rate.
        repeat_after_ns: Option<u64>,
    },
    /// A new uniformly distributed rate for each interval.
    Uniform {
        /// Lowest rate, bits per second.
        low_bps: u64,
        /// Highest rate, bits per second.
        high_bps: u64,
        /// Length of each interval, nanoseconds.
        hold_ns: u64,
        /// The rate of the first interval; sampled like the others if absent.
        initial_bps: Option<u64>,
        /// Key of the random stream. Links with the same key have the same rates (both directions of one
        /// radio link). Default: the link's name.
        stream: Option<String>,
    },
    /// Packet-delivery opportunities from trace number `trace` of the run's inputs.
    Opportunities {
        /// Index into the inputs.
        trace: usize,
        /// Stop at the end of the trace instead of restarting it.
        once: bool,
    },
    /// A rate log, trace number `trace` of the run's inputs.
    RateLog {
        /// Index into the inputs.
        trace: usize,
        /// Stop at the end of the trace instead of restarting it.
        once: bool,
    },
}
