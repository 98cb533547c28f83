//! The start of a filter.

/// The initial state of a filter. The papers do not specify it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum Start {
    /// The first sample. With compressed acknowledgments it can be far too high.
    #[default]
    First,
    /// Zero, from which the estimate needs a few time constants to rise.
    Zero,
}

impl Start {
    /// Returns the state before the first sample.
    pub(super) fn before(self, first: f64) -> f64 {
        if self == Self::First { first } else { 0.0 }
    }
}
