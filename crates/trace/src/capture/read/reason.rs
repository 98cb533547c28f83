//! Reasons for which a packet is skipped.

/// The reason why a packet has no readable TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Fewer bytes were captured than its headers need.
    CutShort,
    /// Not IP.
    NotIp,
    /// IP, but not TCP.
    NotTcp,
    /// A fragment of an IP packet.
    Fragment,
    /// Encrypted by the link layer.
    Encrypted,
    /// An unsupported link layer.
    LinkType(i32),
    /// Headers with contradictory fields.
    Malformed,
}
