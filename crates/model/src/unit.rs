//! What a queue is counted in.

use crate::{Backlog, Bytes};

/// What active queue management or an estimator counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum QueueUnit {
    /// Packets of any size, acknowledgments included. Managed, every packet has the same chance to be chosen.
    Packets,
    /// Bytes on the wire, as so many packets of a mean size. Managed, a packet's chance to be chosen grows with its size.
    Bytes,
}

impl QueueUnit {
    /// What waits, in packets: of any size, or so many of `packet` bytes.
    pub fn packets(self, backlog: Backlog, packet: Bytes) -> f64 {
        match self {
            Self::Packets => backlog.packets as f64,
            Self::Bytes => backlog.bytes.as_f64() / packet.as_f64(),
        }
    }

    /// What one packet of `size` counts: 1, or its share of `packet` bytes.
    pub fn weight(self, size: Bytes, packet: Bytes) -> f64 {
        match self {
            Self::Packets => 1.0,
            Self::Bytes => size.as_f64() / packet.as_f64(),
        }
    }
}
