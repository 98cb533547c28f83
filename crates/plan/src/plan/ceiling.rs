//! Estimators of a window's ceiling, at senders.

use serde::{Deserialize, Serialize};

/// EBE at a sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EbeCeilingPlan {
    /// Which reading of the paper's filter.
    pub profile: CeilingProfilePlan,
    /// ε of the filter's trigger: 0.3.
    pub epsilon: f64,
    /// Ω of the filter's trigger: 0.2.
    pub omega: f64,
    /// ν of the filter's trigger: 0.5.
    pub nu: f64,
    /// What the maintainer's threshold is a share of; none for no maintainer.
    pub maintainer: Option<RttThresholdPlan>,
    /// The maintainer's threshold as that share: 0.15.
    pub threshold: f64,
    /// Υ: 2.0.
    pub upsilon: f64,
    /// Round trips after a loss for which the maintainer rests: 1.
    pub hold_off: f64,
}

/// Which reading of EBE's end-to-end filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CeilingProfilePlan {
    /// As printed.
    Journal,
    /// With measurement noise in proportion to the ceiling, correcting at most once a round trip.
    Recommended,
    /// No filter.
    None,
}

/// What the threshold of EBE's RTT maintainer is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttThresholdPlan {
    /// The queueing delay at the last loss, above the smallest round-trip time.
    QueueingDelay,
    /// The round-trip time at the last loss, as printed.
    Literal,
}

/// What Υ multiplies while EBE's RTT maintainer is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbingGrowthPlan {
    /// The window, over a round trip.
    Acknowledged,
    /// The window, at each estimation interval.
    Interval,
    /// CUBIC's growth.
    Increment,
    /// The ceiling.
    Ceiling,
}
