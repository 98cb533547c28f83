//! In what a slow-start threshold is counted.

use airpath_model::Bytes;

/// In what a slow-start threshold is counted. Who compares thresholds of two controllers gives both the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThresholdUnit {
    /// Bytes: not rounded (RFC 5681).
    #[default]
    Bytes,
    /// Whole segments, rounded down (ns-2 and Linux, which keep the threshold as an integer).
    Segments,
}

impl ThresholdUnit {
    /// `threshold` in this unit, with segments of `mss`, which is not zero where segments are counted.
    pub(crate) fn round(self, threshold: Bytes, mss: Bytes) -> Bytes {
        match self {
            Self::Bytes => threshold,
            Self::Segments => mss * (threshold.get() / mss.get()),
        }
    }
}
