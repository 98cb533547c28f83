//! Packets whose contents the caller keeps.

use airpath_model::{Ecn, PathHeader, Timestamp};

use crate::packet::{Body, Contents, External, Packet};

/// The route of a packet: one of the two of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the flow's sender to its receiver. Such packets count as data.
    Forward,
    /// From the flow's receiver to its sender.
    Back,
}

impl Direction {
    pub(crate) fn of(packet: &External) -> Self {
        if packet.is_data { Self::Forward } else { Self::Back }
    }
}

/// A packet that enters the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalPacket {
    /// The index of its flow in the plan.
    pub flow: u32,
    /// Its direction.
    pub direction: Direction,
    /// Its size on the wire, at most 16 MB.
    pub size: u32,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// The header for routers.
    pub path: PathHeader,
    /// The caller's identifier, which the network returns unchanged.
    pub handle: u32,
}

impl ExternalPacket {
    /// Returns the caller's view of a packet; `None` if it is one of the simulator's.
    pub(crate) fn of(packet: &Packet) -> Option<Self> {
        let Body::External(external) = &packet.body else { return None };
        let Contents { flow, size, .. } = **packet;
        let External { handle, ecn, path, .. } = *external;
        Some(Self { flow, direction: Direction::of(external), size, ecn, path, handle })
    }
}

/// A packet at the end of its route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// The arrival time of its last bit.
    pub at: Timestamp,
    /// The packet, with its ECN field and header as routers left them.
    pub packet: ExternalPacket,
}

/// A packet that the network lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The index of its flow in the plan.
    pub flow: u32,
    /// Its direction.
    pub direction: Direction,
    /// The caller's identifier.
    pub handle: u32,
}

/// A packet at the entrance of a captured link (`record.capture`), before the queue accepts or drops it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Captured {
    /// The time of its arrival there.
    pub at: Timestamp,
    /// The index of the link in the plan.
    pub link: u32,
    /// The packet, with its ECN field and header as the routers before left them.
    pub packet: ExternalPacket,
}
