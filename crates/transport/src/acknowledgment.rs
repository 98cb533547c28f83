//! The feedback of a receiver.

use airpath_model::{Bytes, PathHeader, Timestamp};

/// A bare acknowledgment. A small plain value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgment {
    /// Everything below this offset has arrived.
    pub cumulative: u64,
    /// Ranges received above it (RFC 2018), the block of the newest segment first.
    pub sack: SackBlocks,
    /// A segment that it answers had arrived as a whole before (duplicate SACK, RFC 2883; which one is not reported).
    pub repeated: bool,
    /// How much the receiver takes from `cumulative` on.
    pub receive_window: Bytes,
    /// The receiver's clock, when timestamps are in use.
    pub timestamp: Option<Timestamp>,
    /// The timestamp of the segment that this acknowledgment answers (RFC 7323, section 4.3).
    pub timestamp_echo: Option<Timestamp>,
    /// ECN echo (RFC 3168).
    pub ece: bool,
    /// Segments that arrived marked so far, modulo 2^16, where they are counted (accurate ECN).
    pub marked: u16,
    /// What routers wrote on the data, as far as the receiver hands it back.
    pub path: PathHeader,
}

impl Acknowledgment {
    /// The selectively acknowledged ranges as stream offsets [left, right).
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
    /// No blocks.
    pub const fn new() -> Self {
        Self { blocks: [(0, 0); 3], count: 0 }
    }

    /// Adds the range [`left`, `right`) of stream offsets above `cumulative`; gives false when three are there, or
    /// when the range lies below or 4 GiB or more above.
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

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}
