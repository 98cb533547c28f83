//! Active queue management and schedulers.

use airpath_queue::declare::Disciplines;
use serde::{Deserialize, Serialize};

use super::ComponentPlan;
use super::declared::declared_or_listed;

/// How a queue is managed, and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
pub enum ManagementPlan {
    /// Strict priority between classes.
    Priority {
        /// How many classes.
        classes: u32,
        /// The class of each flow of the plan; 0 goes first.
        class_of_flow: Vec<u32>,
    },
    /// Deficit round robin over queues to which flows are hashed.
    Drr {
        /// Quantum: the bytes that a queue sends in its turn.
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

declared_or_listed!(ManagementPlan, ["priority", "drr", "weighted-drr"]);

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
