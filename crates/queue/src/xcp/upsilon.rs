//! The quantity that the factor of a source that probes multiplies.

/// The quantity that XCP multiplies by Υ, the factor by which a source probes above its capacity
/// ([`probing`](airpath_model::CapacitySource::probing)). Υ is 1 while the source does not probe.
///
/// F = α S − β Q / d, with S = C − y unless Υ is part of S.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum UpsilonOn {
    /// The capacity: S = Υ C − y. The only choice that has an effect on a link at rest, where F is otherwise
    /// zero.
    #[default]
    Capacity,
    /// The spare bandwidth: F = α Υ S − β Q / d.
    Spare,
    /// The feedback: Υ F, also if F is negative.
    Feedback,
    /// The feedback if it is positive: Υ F if F > 0, else F.
    PositiveFeedback,
}

impl UpsilonOn {
    /// Returns the factor of the capacity.
    pub(crate) const fn capacity_factor(self, upsilon: f64) -> f64 {
        match self {
            Self::Capacity => upsilon,
            Self::Spare | Self::Feedback | Self::PositiveFeedback => 1.0,
        }
    }

    /// Returns F in byte/s, with `given` = α S and `drained` = β Q / d.
    pub(crate) fn aggregate(self, upsilon: f64, given: f64, drained: f64) -> f64 {
        let feedback = given - drained;
        match self {
            Self::Spare => upsilon * given - drained,
            Self::Feedback => upsilon * feedback,
            Self::PositiveFeedback if feedback > 0.0 => upsilon * feedback,
            Self::Capacity | Self::PositiveFeedback => feedback,
        }
    }
}
