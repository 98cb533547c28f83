//! The sending time of packets of one size at one rate.

use airpath_model::{Bytes, Rate};

/// The precomputed sending time of packets of one size at one rate: most packets have the same size, and
/// divisions are slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendingTime {
    size: Bytes,
    /// Whole nanoseconds.
    nanos: u64,
    /// The remainder, in bits times 10⁹.
    rest: u64,
}

impl SendingTime {
    /// The sending time of empty packets, at any rate.
    pub(crate) const NONE: Self = Self { size: Bytes::ZERO, nanos: 0, rest: 0 };

    /// Returns the sending time of packets of `size` at a nonzero rate; `None` if 64 bits are too few. They
    /// suffice for up to 2.3 GB, and divide several times faster than 128 bits.
    pub(crate) fn of(size: Bytes, rate: Rate) -> Option<Self> {
        if rate == Rate::UNLIMITED {
            return Some(Self { size, ..Self::NONE });
        }
        let (needed, rate) = (size.get().checked_mul(8 * NANOS_PER_SECOND)?, rate.as_bps());
        Some(Self { size, nanos: needed / rate, rest: needed % rate })
    }

    /// Returns whether this is the sending time of packets of `size`.
    #[inline]
    pub(crate) fn is_of(&self, size: Bytes) -> bool {
        self.size == size
    }

    /// Returns the whole nanoseconds that a packet takes if `surplus` (bits times 10⁹, less than a
    /// nanosecond's worth) could have been sent already, and the surplus after it.
    #[inline]
    pub(crate) fn after(&self, surplus: u64, rate: Rate) -> (u64, u64) {
        if self.rest > surplus {
            (self.nanos + 1, rate.as_bps() - (self.rest - surplus))
        } else {
            (self.nanos, surplus - self.rest)
        }
    }
}

/// Nanoseconds in a second.
pub(crate) const NANOS_PER_SECOND: u64 = 1_000_000_000;
