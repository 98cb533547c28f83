//! One direction of a link.

use airpath_channel::declare::{Arqs, Losses};
use airpath_channel::rates::RatePlan;
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
