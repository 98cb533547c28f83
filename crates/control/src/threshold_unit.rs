//! In what a slow-start threshold is counted.

use airpath_model::Bytes;

/// In what a slow-start threshold is counted. Who compares thresholds of two controllers gives both the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum ThresholdUnit {
    /// Whole segments, rounded down (ns-2 and Linux, which keep the threshold as an integer).
    Segments,
    /// Bytes: not rounded (RFC 5681).
    #[default]
    Bytes,
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
