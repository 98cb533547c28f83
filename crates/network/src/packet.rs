//! The simulator's packet: written once, handed on from link to link by its place.

use std::ops::{Deref, DerefMut};

use airpath_model::{Bytes, Duration, Ecn, PathHeader, Timestamp};
use airpath_transport::{Acknowledgment, Segment};

use crate::event::Target;
use crate::prefetch;

/// A packet on its way: a place of its own in memory, so that a hop moves eight bytes.
#[derive(Debug)]
pub struct Packet(Box<Contents>);

/// What there is to know of a packet, in two lines of the processor's cache: where many packets are on their way, a run takes as
/// long as reading them does.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Contents {
    /// The flow it belongs to, also when it is an acknowledgment.
    pub flow: u32,
    /// Which connection of the flow it belongs to: a source that repeats opens a fresh one for each file.
    pub connection: u32,
    /// Where in the route table the link stands that has it; once that one has sent it in order to hand it over, the next.
    pub hop: u32,
    /// Size on the wire.
    pub size: u32,
    /// When it came into the queue in which it waits, or last waited.
    pub enqueued_at: Timestamp,
    /// How long it has waited in queues so far.
    pub queueing: Duration,
    /// What it carries.
    pub body: Body,
}

/// What a packet carries, and what is known of some kinds of packets only.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Data of a transport connection.
    Segment {
        /// The data; its ECN field is that of the IP header.
        segment: Segment,
        /// When its sender let it go.
        sent_at: Timestamp,
    },
    /// A bare acknowledgment. It is not ECN-capable (RFC 3168, section 6.1.4).
    Acknowledgment(Acknowledgment),
    /// A datagram of a source that does not listen, with its number. It is not ECN-capable.
    Datagram {
        /// 0, 1, … within the flow.
        sequence: u64,
        /// When its sender let it go.
        sent_at: Timestamp,
        /// It speaks to no router.
        path: PathHeader,
    },
    /// A packet of somebody who keeps what it carries.
    External(External),
}

/// What the network must know of a packet that somebody else keeps.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// By which its owner knows it.
    pub handle: u32,
    /// Whether it goes from the flow's sender to its receiver.
    pub is_data: bool,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// When its owner let it in.
    pub sent_at: Timestamp,
    /// What it says to routers.
    pub path: PathHeader,
}

impl Packet {
    /// It goes on to what is next on its route: a link, which is given, or the mark at the end.
    #[inline]
    pub fn go_on(&mut self, routes: &[Target]) -> Target {
        self.hop += 1;
        routes[self.hop as usize]
    }

    /// It will be read soon.
    #[inline]
    pub fn prefetch(&self) {
        prefetch::two_lines(&self.flow);
    }
}

impl Contents {
    /// The ECN field of its IP header.
    pub fn ecn(&self) -> Ecn {
        match &self.body {
            Body::Segment { segment, .. } => segment.ecn,
            Body::External(packet) => packet.ecn,
            Body::Acknowledgment(_) | Body::Datagram { .. } => Ecn::NotEct,
        }
    }
}

impl Deref for Packet {
    type Target = Contents;

    fn deref(&self) -> &Contents {
        &self.0
    }
}

impl DerefMut for Packet {
    fn deref_mut(&mut self) -> &mut Contents {
        &mut self.0
    }
}

/// Memory of packets that have left the network, for new ones. Once the number of packets in flight has reached its maximum,
/// nothing is allocated any more.
#[derive(Debug, Default)]
pub struct PacketPool(Vec<Packet>);

impl PacketPool {
    /// Returns a packet with these contents.
    #[inline]
    pub fn packet(&mut self, contents: Contents) -> Packet {
        let Some(mut packet) = self.0.pop() else { return Packet(Box::new(contents)) };
        *packet = contents;
        prefetch::pile(&self.0);
        packet
    }

    /// Takes back a packet that has left the network.
    pub fn take_back(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

impl airpath_model::Packet for Packet {
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }

    fn ecn(&self) -> Ecn {
        self.0.ecn()
    }

    /// Those that are not capable of ECN have no field to write; nobody marks them.
    fn set_ecn(&mut self, ecn: Ecn) {
        match &mut self.body {
            Body::Segment { segment, .. } => segment.ecn = ecn,
            Body::External(packet) => packet.ecn = ecn,
            Body::Acknowledgment(_) | Body::Datagram { .. } => {}
        }
    }

    fn flow(&self) -> u64 {
        u64::from(self.flow) << 1 | u64::from(self.is_data())
    }

    #[inline]
    fn is_data(&self) -> bool {
        // Two comparisons: a table of all kinds costs more.
        if let Body::External(packet) = &self.body {
            return packet.is_data;
        }
        !matches!(self.body, Body::Acknowledgment(_))
    }

    fn path_header(&mut self) -> &mut PathHeader {
        match &mut self.body {
            Body::Segment { segment, .. } => &mut segment.path,
            Body::Acknowledgment(acknowledgment) => &mut acknowledgment.path,
            Body::Datagram { path, .. } => path,
            Body::External(packet) => &mut packet.path,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_packet_fills_two_cache_lines() {
        let size = size_of::<super::Contents>();
        assert!(size <= 128, "{size} bytes are three cache lines or more for each packet on its way");
    }
}
