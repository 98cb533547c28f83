//! Packets: written once to memory and passed from link to link by reference.

use std::ops::{Deref, DerefMut};

use airpath_model::{Bytes, Duration, Ecn, PathHeader, Timestamp};
use airpath_transport::{Acknowledgment, Segment};

use crate::event::Target;
use crate::prefetch;

/// A packet inside the network. Its contents have their own allocation, so that a hop moves eight bytes.
#[derive(Debug)]
pub struct Packet(Box<Contents>);

/// The contents of a packet, in two cache lines: with many packets in flight, reading them dominates the run
/// time.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Contents {
    /// The index of its flow, which an acknowledgment shares.
    pub flow: u32,
    /// The index of its connection within the flow: a repeating source opens a new connection for each file.
    pub connection: u32,
    /// The index in the route table of the link that contains it, or of the next link after a handover.
    pub hop: u32,
    /// The size on the wire.
    pub size: u32,
    /// The time at which it entered its current or last queue.
    pub enqueued_at: Timestamp,
    /// The total time in queues so far.
    pub queueing: Duration,
    /// Its payload.
    pub body: Body,
}

/// The payload of a packet, and the fields that only some kinds of packets have.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Data of a transport connection.
    Segment {
        /// The data; the ECN field is that of the IP header.
        segment: Segment,
        /// The time at which it was sent.
        sent_at: Timestamp,
    },
    /// A bare acknowledgment. It is not ECN-capable (RFC 3168, section 6.1.4).
    Acknowledgment(Acknowledgment),
    /// A datagram of a source without feedback. It is not ECN-capable.
    Datagram {
        /// Its number within the flow, from 0.
        sequence: u64,
        /// The time at which it was sent.
        sent_at: Timestamp,
        /// Its header for routers, which is empty.
        path: PathHeader,
    },
    /// A packet whose payload the caller keeps.
    External(External),
}

/// The fields of an external packet that the network reads.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// The caller's identifier.
    pub handle: u32,
    /// Whether its direction is from the flow's sender to its receiver.
    pub is_data: bool,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// The time at which it entered the network.
    pub sent_at: Timestamp,
    /// Its header for routers.
    pub path: PathHeader,
}

impl Packet {
    /// Advances to the next entry of its route, and returns it: a link, or the mark at the end.
    #[inline]
    pub fn go_on(&mut self, routes: &[Target]) -> Target {
        self.hop += 1;
        routes[self.hop as usize]
    }

    /// Prefetches its contents.
    #[inline]
    pub fn prefetch(&self) {
        prefetch::two_lines(&self.flow);
    }
}

impl Contents {
    /// Returns the ECN field of its IP header.
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

/// A pool of packets that have left the network, for reuse. Once the number of packets in flight has reached
/// its maximum, nothing is allocated any more.
#[derive(Debug, Default)]
pub struct PacketPool(Vec<Packet>);

impl PacketPool {
    /// Returns a packet with the given contents.
    #[inline]
    pub fn packet(&mut self, contents: Contents) -> Packet {
        let Some(mut packet) = self.0.pop() else { return Packet(Box::new(contents)) };
        *packet = contents;
        prefetch::pile(&self.0);
        packet
    }

    /// Returns a packet that has left the network to the pool.
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

    /// Does nothing for packets that are not ECN-capable; they are never marked.
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
        // Two comparisons are cheaper than a table of all kinds.
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
        assert!(size <= 128, "{size} bytes are three cache lines or more for each packet in flight");
    }
}
