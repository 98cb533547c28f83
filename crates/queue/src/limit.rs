//! Buffer limits.

use airpath_model::{Backlog, Bytes};

/// Largest number of queues of one discipline, because each queue takes memory from the beginning.
pub(crate) const MAX_QUEUES: u32 = 1 << 20;

/// The size of a buffer. The packet in transmission has left the buffer and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    Unlimited,
    /// Largest number of packets in the queue, regardless of their sizes. Zero drops every packet.
    Packets(u64),
    /// Largest number of bytes on the wire in the queue. A packet that does not fit as a whole is not
    /// accepted.
    Bytes(Bytes),
}

impl Limit {
    /// Returns whether `backlog` is within the limit.
    pub const fn holds(self, backlog: Backlog) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(most) => backlog.packets <= most,
            Self::Bytes(most) => backlog.bytes.get() <= most.get(),
        }
    }

    /// Returns whether a packet of `size` fits in addition to `backlog`.
    pub const fn admits(self, backlog: Backlog, size: Bytes) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(most) => backlog.packets < most,
            Self::Bytes(most) => backlog.bytes.get().saturating_add(size.get()) <= most.get(),
        }
    }
}
