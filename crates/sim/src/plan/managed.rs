//! Active queue management and schedulers.

use serde::{Deserialize, Serialize};

/// How a queue is managed, and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ManagementPlan {
    /// Random early detection.
    Red {
        /// What the queue is counted in.
        unit: QueueUnitPlan,
        /// Average from which on packets are chosen, packets (of `packet_bytes` where bytes are counted).
        minimum: f64,
        /// Average at which the probability is `max_probability`, packets.
        maximum: f64,
        /// The probability there: 0.1.
        max_probability: f64,
        /// Weight of the newest queue in the average: 0.002.
        weight: f64,
        /// From `maximum` to twice it the probability grows to 1.
        gentle: bool,
        /// Wait between packets that are chosen, as ns-2.
        wait: bool,
        /// The probability at `maximum` adapts.
        adaptive: bool,
        /// Mark instead of dropping.
        ecn: bool,
        /// The probability from which on packets are dropped all the same.
        mark_limit: f64,
        /// Mean size of a packet.
        packet_bytes: u64,
        /// Time that the link takes for one of them, nanoseconds.
        packet_time_ns: u64,
    },
    /// Random exponential marking.
    Rem {
        /// What arrivals and the queue are counted in.
        unit: QueueUnitPlan,
        /// The capacity that the price is reckoned with, bits per second.
        capacity_bps: u64,
        /// Time between two prices: 2 ms.
        interval_ns: u64,
        /// Gain of the price: 0.001.
        gamma: f64,
        /// Weight of the queue: 0.1.
        alpha: f64,
        /// Base of the probability: 1.001.
        phi: f64,
        /// Target queue, packets: 20.
        target: f64,
        /// What happens to chosen packets.
        response: RemResponsePlan,
        /// Mean size of a packet.
        packet_bytes: u64,
    },
}

/// What a queue is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueUnitPlan {
    /// Packets of any size.
    Packets,
    /// Bytes, as so many packets of a mean size.
    Bytes,
}

/// What REM does to the packets that it chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemResponsePlan {
    /// Drop them.
    Drop,
    /// Mark those that allow it, drop the others.
    Mark,
    /// Mark those that allow it, let the others pass.
    MarkOnly,
}
