//! Queues, router protocols and their capacity sources.

use airpath_estimate::declare::CapacitySources;
use airpath_queue::declare::{Disciplines, Protocols};
use serde::{Deserialize, Serialize};

use super::ComponentPlan;

/// A queue discipline and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueuePlan {
    /// First in, first out; arrivals that do not fit are dropped. At most one limit; no limit if neither is
    /// given.
    DropTail {
        /// Largest backlog in bytes.
        limit_bytes: Option<u64>,
        /// Largest backlog in packets.
        limit_packets: Option<u64>,
    },
    /// Drop-tail under a router protocol.
    Router {
        /// Largest backlog in bytes.
        limit_bytes: Option<u64>,
        /// Largest backlog in packets.
        limit_packets: Option<u64>,
        /// The protocol that the router computes and writes on packets.
        protocol: ProtocolPlan,
        /// The source of the capacity estimate of its link.
        source: SourcePlan,
    },
    /// Active queue management, or a scheduler.
    Managed {
        /// Largest backlog in bytes.
        limit_bytes: Option<u64>,
        /// Largest backlog in packets.
        limit_packets: Option<u64>,
        /// The discipline.
        management: ManagementPlan,
    },
}

/// Active queue management or a scheduler in a plan.
pub type ManagementPlan = ComponentPlan<Disciplines>;

/// A router protocol in a plan.
pub type ProtocolPlan = ComponentPlan<Protocols>;

/// A capacity source in a plan.
pub type SourcePlan = ComponentPlan<CapacitySources>;

impl QueuePlan {
    /// Returns the largest backlog in bytes and in packets.
    pub const fn limits(&self) -> (Option<u64>, Option<u64>) {
        match *self {
            Self::DropTail { limit_bytes, limit_packets }
            | Self::Router { limit_bytes, limit_packets, .. }
            | Self::Managed { limit_bytes, limit_packets, .. } => (limit_bytes, limit_packets),
        }
    }
}
