//! Congestion controllers.

use serde::{Deserialize, Serialize};

use super::AckRatePlan;

/// A congestion controller and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControllerPlan {
    /// NewReno (RFC 5681, 6582).
    Newreno {
        /// What growth in congestion avoidance counts.
        counting: CountingPlan,
        /// Slow start.
        slow_start: SlowStartPlan,
    },
    /// CUBIC (RFC 9438 and the form of 2008).
    Cubic {
        /// C, segments per second cubed.
        c: f64,
        /// The part of the window that is kept at a loss: 0.7 today, 0.8 in 2008.
        beta: f64,
        /// Release bandwidth faster when the saturation point falls.
        fast_convergence: bool,
        /// Be at least as fast as Reno would be.
        reno_friendly: bool,
        /// Which text rules the details.
        form: CubicForm,
        /// Slow start.
        slow_start: SlowStartPlan,
    },
    /// Westwood's decrease over an ACK-rate estimator.
    Westwood {
        /// The estimator.
        estimator: AckRatePlan,
        /// When a loss sets the window.
        reduction: WestwoodReductionPlan,
        /// Whether a loss may raise the window.
        may_raise: bool,
        /// Which RTT turns bandwidth into a window.
        minimum_rtt: MinimumRttPlan,
        /// What growth in congestion avoidance counts.
        counting: CountingPlan,
        /// Slow start.
        slow_start: SlowStartPlan,
    },
    /// XCP's sender.
    Xcp {
        /// A loss halves the window, as in ns-2; without, it is only repaired.
        halve_on_loss: bool,
    },
    /// VCP's sender.
    Vcp {
        /// Which RTT scales increases.
        rtt_scaling: RttScalingPlan,
        /// Break points and reference of the additive increase.
        bounds: VcpBoundsPlan,
        /// What an overload freezes.
        freeze: FreezePlan,
        /// MI's gain κ: 0.25.
        kappa: f64,
        /// AI's α in packets for each `t_ρ`: 1.
        alpha: f64,
        /// MD's factor: 0.875.
        beta: f64,
        /// `t_ρ`, nanoseconds.
        interval_ns: u64,
        /// Spread small windows over the round trip.
        pace_small_windows: bool,
    },
    /// MPCP's sender.
    Mpcp {
        /// Packets that carry one word: 2 for DPCP.
        digits: u8,
        /// Which RTT scales increases.
        rtt_scaling: RttScalingPlan,
        /// Break points and reference of the additive increase.
        bounds: VcpBoundsPlan,
        /// What an overload freezes.
        freeze: FreezePlan,
        /// AI's α in packets for each `t_ρ`: 1.
        alpha: f64,
        /// `t_ρ`, nanoseconds.
        interval_ns: u64,
        /// Spread small windows over the round trip.
        pace_small_windows: bool,
    },
    /// QFCP's sender.
    Qfcp,
    /// A window that never changes.
    Fixed {
        /// Its size, bytes of payload.
        window_bytes: u64,
        /// Send at this rate instead of in bursts, bits per second of payload.
        pacing_bps: Option<u64>,
    },
}

/// Which text rules CUBIC's details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CubicForm {
    /// RFC 9438.
    #[serde(rename = "rfc9438")]
    Rfc9438,
    /// Ha, Rhee and Xu 2008, as in Linux 2.6.22.
    #[serde(rename = "2008")]
    Linux2008,
}

/// When a loss sets Westwood's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WestwoodReductionPlan {
    /// At once.
    AtLoss,
    /// When it is repaired, as in Linux.
    AfterRecovery,
}

/// Which RTT is Westwood's smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MinimumRttPlan {
    /// Of all samples.
    OfFlow,
    /// Of all samples since the last timeout.
    SinceTimeout,
}

/// Which round-trip time scales VCP's increases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttScalingPlan {
    /// The smallest one seen.
    Minimum,
    /// The smoothed one.
    Smoothed,
    /// None: increases are per round trip.
    Unscaled,
}

/// Bounds of VCP's increases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcpBoundsPlan {
    /// The paper's reference of 200 ms with break points at 20 and 500 ms.
    Spec,
    /// The authors' code: 100 ms.
    Author,
}

/// What VCP does during the freeze after an overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreezePlan {
    /// The window does not change at all.
    All,
    /// Only further decreases are suppressed, as in the authors' code.
    DecreasesOnly,
}

/// What growth in congestion avoidance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountingPlan {
    /// Acknowledged bytes (RFC 3465).
    Bytes,
    /// Acknowledgments (RFC 5681, equation 3; ns-2).
    Acknowledgments,
}

/// How slow start grows and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlowStartPlan {
    /// Up to two segments for an acknowledgment (RFC 3465, L = 2), until the threshold or a loss (RFC 5681).
    #[serde(rename = "standard")]
    Standard,
    /// One segment for an acknowledgment (L = 1; ns-2, and Linux in 2007), until the threshold or a loss.
    #[serde(rename = "per-acknowledgment")]
    PerAcknowledgment,
    /// HyStart++ (RFC 9406).
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
    /// As `standard`, towards a first threshold by the least-squares slope of three acknowledgments (Hoe 1996).
    #[serde(rename = "hoe")]
    Hoe,
}
