//! Active queue management and schedulers.

use airpath_queue::declare::Disciplines;
use serde::{Deserialize, Serialize};

use super::ComponentPlan;
use super::declared::declared_or_listed;

/// How a queue is managed, and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
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
    /// Adaptive virtual queue, whose buffer has the size of the real one.
    Avq {
        /// The capacity of the link, bits per second.
        capacity_bps: u64,
        /// How fast the virtual capacity adapts: 0.15.
        alpha: f64,
        /// Utilisation that is wanted: 0.98.
        gamma: f64,
        /// The first virtual capacity as a share: 0.8.
        initial_share: f64,
        /// Mark instead of dropping.
        ecn: bool,
    },
    /// Flow queueing with controlled delay.
    FqCodel {
        /// Delay that may stand in a queue: 5 ms.
        target_ns: u64,
        /// How long it may stand above: 100 ms.
        interval_ns: u64,
        /// Largest packet.
        packet_bytes: u64,
        /// Mark instead of dropping.
        ecn: bool,
        /// What a queue sends in its turn.
        quantum_bytes: u64,
        /// How many queues flows are hashed to: 1024.
        queues: u32,
    },
    /// Proportional integral controller enhanced.
    Pie {
        /// Delay that is wanted: 15 ms.
        target_ns: u64,
        /// Time between two probabilities: 15 ms.
        update_ns: u64,
        /// Gain on the distance, 1/s: 0.125.
        alpha: f64,
        /// Gain on the change, 1/s: 1.25.
        beta: f64,
        /// How long an idle queue lets everything pass: 150 ms.
        burst_ns: u64,
        /// How the delay is known.
        delay: PieDelayPlan,
        /// Spread drops evenly.
        derandomise: bool,
        /// Mark instead of dropping.
        ecn: bool,
        /// The probability above which packets are dropped all the same: 0.1.
        mark_limit: f64,
        /// Mean size of a packet.
        packet_bytes: u64,
    },
    /// Dual-queue coupled AQM with PI2.
    DualPi2 {
        /// Delay that is wanted in the classic queue: 15 ms.
        target_ns: u64,
        /// Time between two probabilities: 16 ms.
        update_ns: u64,
        /// Integral gain, Hz: 0.16.
        alpha: f64,
        /// Proportional gain, Hz: 3.2.
        beta: f64,
        /// Coupling of the queues: 2.
        coupling: f64,
        /// Delay from which on the low-latency queue is marked: 1 ms.
        step_ns: u64,
        /// Least share of the classic queue: 0.1.
        classic_share: f64,
        /// Size of a full packet.
        packet_bytes: u64,
    },
    /// Strict priority between classes.
    Priority {
        /// How many classes.
        classes: u32,
        /// The class of each flow of the plan; 0 goes first.
        class_of_flow: Vec<u32>,
    },
    /// Deficit round robin over queues to which flows are hashed.
    Drr {
        /// What a queue sends in its turn.
        quantum_bytes: u64,
        /// How many queues: 1024.
        queues: u32,
    },
    /// Deficit round robin over classes.
    WeightedDrr {
        /// What each class sends in its turn.
        quanta_bytes: Vec<u64>,
        /// The class of each flow of the plan.
        class_of_flow: Vec<u32>,
    },
    /// A component that declares itself.
    #[serde(skip)]
    Declared(ComponentPlan<Disciplines>),
}

declared_or_listed!(
    ManagementPlan,
    ["red", "rem", "avq", "fq-codel", "pie", "dual-pi2", "priority", "drr", "weighted-drr"]
);

impl ManagementPlan {
    /// The class of each flow and how many there are, for one that has classes.
    pub(crate) fn classes(&self) -> Option<(&[u32], usize)> {
        match self {
            Self::Priority { classes, class_of_flow } => Some((class_of_flow, *classes as usize)),
            Self::WeightedDrr { quanta_bytes, class_of_flow } => Some((class_of_flow, quanta_bytes.len())),
            _ => None,
        }
    }
}

/// How PIE knows the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PieDelayPlan {
    /// The packet at the head has waited so long.
    Timestamps,
    /// The queue over the rate at which it drains.
    DepartureRate,
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
