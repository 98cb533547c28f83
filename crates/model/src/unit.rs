//! The unit in which a queue is counted.

use crate::{Backlog, Bytes};

/// The unit in which active queue management or an estimator counts a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum QueueUnit {
    /// Packets of any size, acknowledgments included. Active queue management selects each packet with the
    /// same probability.
    Packets,
    /// Bytes on the wire, converted to packets of a mean size. In active queue management, a packet's
    /// probability grows with its size.
    Bytes,
}

impl QueueUnit {
    /// Returns the backlog in packets: of any size, or in units of `packet` bytes.
    pub fn packets(self, backlog: Backlog, packet: Bytes) -> f64 {
        match self {
            Self::Packets => backlog.packets as f64,
            Self::Bytes => backlog.bytes.as_f64() / packet.as_f64(),
        }
    }

    /// Returns the count of one packet of `size`: 1, or its share of `packet` bytes.
    pub fn weight(self, size: Bytes, packet: Bytes) -> f64 {
        match self {
            Self::Packets => 1.0,
            Self::Bytes => size.as_f64() / packet.as_f64(),
        }
    }
}
