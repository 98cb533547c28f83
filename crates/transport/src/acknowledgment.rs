//! The receiver's feedback.

use airpath_model::{Bytes, PathHeader, Timestamp};

/// A bare acknowledgment: a small plain value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgment {
    /// The cumulative acknowledgment: all bytes below this offset have arrived.
    pub cumulative: u64,
    /// Ranges received above `cumulative` (RFC 2018), the block of the newest segment first.
    pub sack: SackBlocks,
    /// Whether one of the acknowledged segments had already arrived completely (duplicate SACK, RFC 2883,
    /// without the range).
    pub repeated: bool,
    /// The receive window, counted from `cumulative`.
    pub receive_window: Bytes,
    /// The receiver's clock, if timestamps are in use.
    pub timestamp: Option<Timestamp>,
    /// The timestamp of the acknowledged segment (RFC 7323, section 4.3).
    pub timestamp_echo: Option<Timestamp>,
    /// ECN echo (RFC 3168).
    pub ece: bool,
    /// The number of marked segments received so far, modulo 2^16, if accurate ECN counts them.
    pub marked: u16,
    /// The header fields written by routers that the receiver echoes.
    pub path: PathHeader,
}

impl Acknowledgment {
    /// Returns the selectively acknowledged ranges as stream offsets [left, right).
    pub fn sack_ranges(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let base = self.cumulative;
        let SackBlocks { blocks, count } = self.sack;
        blocks
            .into_iter()
            .take(usize::from(count))
            .map(move |(left, right)| (base.saturating_add(left.into()), base.saturating_add(right.into())))
    }
}

/// Up to three SACK blocks, kept as offsets from the cumulative acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    count: u8,
}

impl SackBlocks {
    /// Creates an empty set of blocks.
    pub const fn new() -> Self {
        Self { blocks: [(0, 0); 3], count: 0 }
    }

    /// Adds the range [`left`, `right`) of stream offsets above `cumulative`.
    ///
    /// Returns false if there are three blocks already, or if the range lies below `cumulative` or 4 GiB or
    /// more above.
    pub fn push(&mut self, cumulative: u64, left: u64, right: u64) -> bool {
        let offset = |of: u64| of.checked_sub(cumulative).and_then(|offset| u32::try_from(offset).ok());
        match (self.blocks.get_mut(usize::from(self.count)), offset(left), offset(right)) {
            (Some(slot), Some(left), Some(right)) => {
                *slot = (left, right);
                self.count += 1;
                true
            }
            _ => false,
        }
    }

    /// Returns whether there are no blocks.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}
