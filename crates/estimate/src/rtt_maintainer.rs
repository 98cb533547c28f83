//! EBE's RTT maintainer: the counterpart of the queue maintainer if only round-trip times are known.

use crate::Latch;

/// The reference of the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum RttThreshold {
    /// The queueing delay: `RTT_min` + share (`R_max` − `RTT_min`). Our interpretation; it converges to the
    /// printed form if the base round trip is short.
    #[default]
    QueueingDelay,
    /// `R_max` itself, as printed in EBE-J: effective only if the base round trip is below that share.
    Literal,
}

/// Determines when an end-to-end controller probes (EBE-J, section III-C).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttMaintainer {
    threshold: RttThreshold,
    share: f64,
    upsilon: f64,
    latch: Latch,
}

impl RttMaintainer {
    /// Creates a maintainer. EBE-J: share 0.15, Υ 2.0 for CUBIC. Υ ≥ 1.
    pub const fn new(threshold: RttThreshold, share: f64, upsilon: f64) -> Self {
        Self { threshold, share, upsilon, latch: Latch::new() }
    }

    /// Processes the mean round-trip time of one interval, the smallest one observed and the one at the last
    /// loss, all in the same unit. Returns Υ while on, else 1.
    pub fn update(&mut self, mean_rtt: f64, rtt_min: f64, rtt_max: f64) -> f64 {
        let threshold = match self.threshold {
            RttThreshold::QueueingDelay => rtt_min + self.share * (rtt_max - rtt_min),
            RttThreshold::Literal => self.share * rtt_max,
        };
        self.latch.update(mean_rtt, threshold);
        self.factor()
    }

    /// Returns Υ while on, else 1.
    pub const fn factor(&self) -> f64 {
        if self.is_on() { self.upsilon } else { 1.0 }
    }

    /// Returns whether the maintainer is on.
    pub const fn is_on(&self) -> bool {
        self.latch.is_on()
    }

    /// Turns the maintainer off and discards the last round-trip time.
    pub const fn reset(&mut self) {
        self.latch = Latch::new();
    }
}
