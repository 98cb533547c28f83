//! Queues, router protocols and what they believe of their links.

use airpath_estimate::declare::CapacitySources;
use airpath_queue::declare::{Disciplines, Protocols};
use serde::{Deserialize, Serialize};

use super::ComponentPlan;

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

/// Active queue management or a scheduler in a plan.
pub type ManagementPlan = ComponentPlan<Disciplines>;

/// A router protocol in a plan.
pub type ProtocolPlan = ComponentPlan<Protocols>;

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
