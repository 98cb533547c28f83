//! The ECN field of a packet.

/// The two-bit ECN field (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecn {
    /// The sender does not support ECN: a queue must drop the packet instead of marking it.
    #[default]
    NotEct,
    /// ECN-capable transport, code point 01 (L4S senders, RFC 9331).
    Ect1,
    /// ECN-capable transport, code point 10 (classic senders).
    Ect0,
    /// Congestion experienced: marked by a queue on the way.
    Ce,
}

impl Ecn {
    /// Returns whether a queue may mark this packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// Returns the two bits as in the IP header.
    pub const fn bits(self) -> u8 {
        match self {
            Self::NotEct => 0b00,
            Self::Ect1 => 0b01,
            Self::Ect0 => 0b10,
            Self::Ce => 0b11,
        }
    }
}
