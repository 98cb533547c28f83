//! The unit in which a slow-start threshold is counted.

use airpath_model::Bytes;

/// The unit in which a slow-start threshold is counted. Use the same unit to compare the thresholds of two
/// controllers.
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
    /// Rounds `threshold` to this unit. `mss` must not be zero if the unit is segments.
    pub(crate) fn round(self, threshold: Bytes, mss: Bytes) -> Bytes {
        match self {
            Self::Bytes => threshold,
            Self::Segments => mss * (threshold.get() / mss.get()),
        }
    }
}
