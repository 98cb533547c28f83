//! The data segments of a sender.

use airpath_model::{Ecn, PathHeader, Timestamp};

/// A data segment: a small plain value without the payload itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The stream offset of the first byte of payload.
    pub sequence: u64,
    /// The payload in bytes.
    pub payload: u32,
    /// Whether it is a retransmission.
    pub retransmission: bool,
    /// The ECN field: as set by the sender, or as left by the routers on arrival.
    pub ecn: Ecn,
    /// Congestion window reduced: the sender has responded to an echo (RFC 3168, section 6.1.2).
    pub cwr: bool,
    /// The sender's clock, if the timestamps option is in use (RFC 7323).
    pub timestamp: Option<Timestamp>,
    /// The newest timestamp that the receiver sent (RFC 7323, section 4).
    pub timestamp_echo: Option<Timestamp>,
    /// The header fields written by the sender and the routers.
    pub path: PathHeader,
}

impl Segment {
    /// Returns the offset after the last byte.
    pub const fn end(&self) -> u64 {
        self.sequence + self.payload as u64
    }
}
