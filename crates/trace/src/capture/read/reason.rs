//! Reasons for which a packet is left out.

/// Why a packet has no readable TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Fewer bytes were captured than its headers have.
    CutShort,
    /// Something else than IP.
    NotIp,
    /// IP, but not TCP.
    NotTcp,
    /// A fragment of an IP packet.
    Fragment,
    /// Encrypted by the link layer.
    Encrypted,
    /// A link layer that cannot be read.
    LinkType(i32),
    /// Headers that contradict themselves.
    Malformed,
}
