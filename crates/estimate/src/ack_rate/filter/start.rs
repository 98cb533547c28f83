//! The start of a filter.

/// Where a filter begins; the papers do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum Start {
    /// At the first sample. On compressed acknowledgments that can be far too high.
    #[default]
    First,
    /// At zero, from which it takes a few time constants to come up.
    Zero,
}

impl Start {
    /// Returns the state before the first sample.
    pub(super) fn before(self, first: f64) -> f64 {
        if self == Self::First { first } else { 0.0 }
    }
}
