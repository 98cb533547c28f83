//! What a sender gives to the network.

use airpath_model::{Ecn, PathHeader, Timestamp};

/// A data segment. A small plain value: the payload itself does not exist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Offset of its first byte of payload in the stream.
    pub sequence: u64,
    /// Bytes of payload.
    pub payload: u32,
    /// It was sent before.
    pub retransmission: bool,
    /// The ECN field: what the sender set, or what arrived after routers marked it.
    pub ecn: Ecn,
    /// The sender has reduced its window after an echo (RFC 3168, section 6.1.2).
    pub cwr: bool,
    /// The sender's clock, when the timestamps option is in use (RFC 7323).
    pub timestamp: Option<Timestamp>,
    /// The newest timestamp that the receiver sent (RFC 7323, section 4).
    pub timestamp_echo: Option<Timestamp>,
    /// What sender and routers write on it.
    pub path: PathHeader,
}

impl Segment {
    /// Offset of the byte after its last one.
    pub const fn end(&self) -> u64 {
        self.sequence + self.payload as u64
    }
}
