//! ACK-rate estimators.

use serde::{Deserialize, Serialize};

/// An ACK-rate estimator by the name under which it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimatorPlan {
    /// Unique among the plan's estimators.
    pub name: String,
    /// What it is.
    pub estimator: AckRatePlan,
}

/// An ACK-rate estimator and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AckRatePlan {
    /// Samples, smoothed.
    Filtered {
        /// Where samples come from.
        sampler: SamplerPlan,
        /// What smooths them.
        filter: FilterPlan,
    },
    /// Westwood+ as in Linux.
    WestwoodPlus {
        /// HZ: ticks of the kernel's clock in a second.
        ticks_per_second: u32,
    },
}

/// Where samples of bandwidth come from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SamplerPlan {
    /// Each acknowledgment.
    PerAck,
    /// What is acknowledged in one smoothed RTT.
    RoundTrip,
    /// What is acknowledged in a fixed time.
    Interval {
        /// At least so long, nanoseconds.
        interval_ns: u64,
    },
    /// The receiver's timestamps.
    ReceiverClock {
        /// The step of its clock, nanoseconds.
        resolution_ns: u64,
    },
    /// The transport's delivery-rate samples.
    DeliveryRate,
    /// Packets that left back to back.
    BackToBack {
        /// Acknowledgments for one sample: 2 is packet pair, 3 is Hoe's slope.
        acks: u8,
        /// The longest time between packets that left back to back, nanoseconds.
        spacing_ns: u64,
    },
}

/// What smooths samples of bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FilterPlan {
    /// Nothing.
    None,
    /// GM eq. 2.
    ZeroOrderHold {
        /// τ, nanoseconds.
        tau_ns: u64,
        /// Where it begins.
        start: StartPlan,
    },
    /// GM eq. 3.
    TimeInvariant {
        /// The part of the old estimate that is kept.
        alpha: f64,
        /// Where it begins.
        start: StartPlan,
    },
    /// GM eq. 6.
    Bilinear {
        /// τ, nanoseconds.
        tau_ns: u64,
        /// What long gaps are filled with.
        virtual_samples: VirtualSamplesPlan,
        /// Where it begins.
        start: StartPlan,
    },
    /// SARBE's stability filter.
    Stability {
        /// β.
        beta: f64,
        /// N.
        window: u8,
    },
    /// Our stand-in for `DynaPara`.
    TwoState {
        /// The part of the old estimate that is kept in the good state.
        good: f64,
        /// The same in the bad state.
        bad: f64,
        /// Kept over one RTT instead of over one sample.
        timed: bool,
    },
    /// The median of the last samples.
    Median {
        /// How many.
        window: u8,
    },
    /// The first sample.
    First,
}

/// Where a filter begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartPlan {
    /// At the first sample.
    First,
    /// At zero.
    Zero,
}

/// What long gaps between samples are filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VirtualSamplesPlan {
    /// Nothing.
    None,
    /// Samples of zero.
    Zero,
    /// The sample itself.
    Held,
}
