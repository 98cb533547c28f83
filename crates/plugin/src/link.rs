//! A link, as its queue discipline and its capacity source see it.

use airpath_model::{Backlog, Bytes, Ecn, Packet, PathHeader, RandomStream, Timestamp};

use crate::abi::{self, code};

/// The properties of a link that are known to its queue before the first packet.
#[derive(Debug)]
#[non_exhaustive]
pub struct LinkFacts {
    /// The buffer in bytes, also if its limit is in packets.
    pub buffer: Bytes,
    /// The most bytes that may wait; `None` if there is no such limit.
    pub limit_bytes: Option<Bytes>,
    /// The most packets that may wait; `None` if there is no such limit.
    pub limit_packets: Option<u64>,
    /// Random numbers that follow from the seed of the run.
    pub random: RandomStream,
}

impl LinkFacts {
    pub(crate) fn of(link: &abi::Link) -> Self {
        let limit = |most: u64| (most != abi::NEVER).then_some(most);
        Self {
            buffer: Bytes::new(link.buffer),
            limit_bytes: limit(link.limit_bytes).map(Bytes::new),
            limit_packets: limit(link.limit_packets),
            random: RandomStream::new(link.seed, "plugin"),
        }
    }
}

/// A packet that a queue of a library has. The host keeps the packet itself.
#[derive(Clone, Copy, Debug)]
pub struct QueuedPacket {
    pub(crate) id: u64,
    size: Bytes,
    flow: u64,
    ecn: Ecn,
    is_data: bool,
    fits: bool,
    /// Headers of routers are not passed to libraries.
    header: PathHeader,
}

impl QueuedPacket {
    pub(crate) fn of(packet: &abi::Packet) -> Self {
        let has = |flag: u32| packet.flags & flag != 0;
        Self {
            id: packet.id,
            size: Bytes::new(packet.bytes),
            flow: packet.flow,
            ecn: match (has(code::PACKET_MARKED), has(code::PACKET_ECN_CAPABLE), has(code::PACKET_ECT1)) {
                (true, _, _) => Ecn::Ce,
                (_, false, _) => Ecn::NotEct,
                (_, _, true) => Ecn::Ect1,
                (_, _, false) => Ecn::Ect0,
            },
            is_data: has(code::PACKET_DATA),
            fits: has(code::PACKET_FITS),
            header: PathHeader::None,
        }
    }

    /// Returns whether the buffer had room for it when it arrived.
    pub const fn fits(&self) -> bool {
        self.fits
    }
}

impl Packet for QueuedPacket {
    fn size(&self) -> Bytes {
        self.size
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// Writes the ECN field of this copy. [`airpath_model::QueueSink::on_mark`] marks the packet.
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn is_data(&self) -> bool {
        self.is_data
    }

    fn path_header(&mut self) -> &mut PathHeader {
        &mut self.header
    }
}

/// Returns the backlog of the queue.
pub(crate) fn backlog(waiting: &abi::Waiting) -> Backlog {
    Backlog { bytes: Bytes::new(waiting.bytes), packets: waiting.packets }
}

/// Returns a time as the interface has it.
#[inline]
pub(crate) fn timer(at: Timestamp) -> u64 {
    if at.is_scheduled() { at.as_nanos() } else { abi::NEVER }
}
