//! Congestion controllers.

use airpath_control::declare::{Controllers, SlowStarts};
use serde::{Deserialize, Serialize};

use super::declared::declared_or_listed;
use super::{
    AckRatePlan, ComponentPlan, Counting, CubicForm, EbeCeilingPlan, ProbingGrowthPlan, ThresholdUnit,
    XcpFormPlan,
};

/// A congestion controller and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
pub enum ControllerPlan {
    /// CUBIC over EBE's window ceiling.
    CubicEbe {
        /// C, segments per second cubed.
        c: f64,
        /// The part of the window that is kept at a loss: 0.8 in 2008.
        beta: f64,
        /// Release bandwidth faster when the saturation point falls.
        fast_convergence: bool,
        /// Be at least as fast as Reno would be.
        reno_friendly: bool,
        /// Which text rules CUBIC's details.
        form: CubicForm,
        /// Slow start.
        slow_start: ComponentPlan<SlowStarts>,
        /// The estimator.
        estimator: EbeCeilingPlan,
        /// What the estimator's Υ multiplies.
        probing_growth: ProbingGrowthPlan,
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
        /// In what bandwidth times RTT is counted.
        threshold_unit: ThresholdUnit,
        /// What growth in congestion avoidance counts.
        counting: Counting,
        /// Slow start.
        slow_start: ComponentPlan<SlowStarts>,
    },
    /// XCP's sender.
    Xcp {
        /// A loss halves the window, as in ns-2; without, it is only repaired.
        halve_on_loss: bool,
        /// Feedback changes the rate or the window; as in routers.
        form: XcpFormPlan,
        /// By what the round-trip time is divided to give X.
        inter_packet: InterPacketPlan,
    },
    /// VCP's sender.
    Vcp {
        /// Which RTT scales increases.
        rtt_scaling: RttScalingPlan,
        /// How the additive increase follows the RTT.
        additive_scaling: AdditiveScalingPlan,
        /// Reference of the additive increase.
        bounds: VcpBoundsPlan,
        /// Stop scaling at 500 ms.
        rtt_cap: bool,
        /// What an overload freezes.
        freeze: FreezePlan,
        /// What an overload does in the round trip after the freeze.
        after_freeze: AfterFreezePlan,
        /// MI's gain κ: 0.25.
        kappa: f64,
        /// AI's α in packets for each `t_ρ`: 1.
        alpha: f64,
        /// MD's factor: 0.875.
        beta: f64,
        /// `t_ρ`, nanoseconds.
        interval_ns: u64,
        /// The part of the window that a loss leaves: 0.5.
        loss_factor: f64,
        /// Spread small windows over the round trip.
        pace_small_windows: bool,
    },
    /// MPCP's sender.
    Mpcp {
        /// Packets that carry one word: 2 for DPCP.
        digits: u8,
        /// Which RTT scales increases.
        rtt_scaling: RttScalingPlan,
        /// How the additive increase follows the RTT.
        additive_scaling: AdditiveScalingPlan,
        /// Reference of the additive increase.
        bounds: VcpBoundsPlan,
        /// Stop scaling at 500 ms.
        rtt_cap: bool,
        /// What an overload freezes.
        freeze: FreezePlan,
        /// What an overload does in the round trip after the freeze.
        after_freeze: AfterFreezePlan,
        /// AI's α in packets for each `t_ρ`: 1.
        alpha: f64,
        /// `t_ρ`, nanoseconds.
        interval_ns: u64,
        /// The part of the window that a loss leaves: 0.5.
        loss_factor: f64,
        /// Spread small windows over the round trip.
        pace_small_windows: bool,
    },
    /// QFCP's sender.
    Qfcp,
    /// ABC's sender.
    Abc {
        /// Packets that additive increase adds in a round trip: 1.
        additive_increase: f64,
        /// Packets below which brakes do not take the window: 5.
        minimum_window: f64,
        /// Windows that leave in a round trip: 2.
        pacing_gain: f64,
        /// Another controller whose window counts where it is smaller.
        second: Option<Box<ControllerPlan>>,
    },
    /// Another controller that hears of losses only while acknowledgments tell of congestion (VCP-W).
    LossDifferentiation {
        /// The other one.
        controller: Box<ControllerPlan>,
        /// N: acknowledgments that are remembered.
        history: u8,
        /// T: how many of them must tell of congestion.
        threshold: u8,
        /// Which of them.
        rule: HistoryRulePlan,
        /// What tells of congestion.
        evidence: EvidencePlan,
    },
    /// A window that never changes.
    Fixed {
        /// Its size, bytes of payload.
        window_bytes: u64,
        /// Send at this rate instead of in bursts, bits per second of payload.
        pacing_bps: Option<u64>,
    },
    /// What an agent outside of the run sets, step by step ([`crate::Episodes`]).
    Agent,
    /// A congestion control of the operating system's kernel: only the emulator has it.
    Kernel {
        /// Its name there (`cubic`).
        algorithm: String,
    },
    /// A component that declares itself.
    #[serde(skip)]
    Declared(ComponentPlan<Controllers>),
}

declared_or_listed!(
    ControllerPlan,
    [
        "cubic-ebe",
        "westwood",
        "xcp",
        "vcp",
        "mpcp",
        "qfcp",
        "abc",
        "loss-differentiation",
        "fixed",
        "agent",
        "kernel"
    ]
);

impl ControllerPlan {
    /// The slow start of a window rule.
    pub(crate) const fn slow_start(&self) -> Option<&ComponentPlan<SlowStarts>> {
        match self {
            Self::CubicEbe { slow_start, .. } | Self::Westwood { slow_start, .. } => Some(slow_start),
            _ => None,
        }
    }

    /// The controller inside another one.
    pub(crate) fn inner(&self) -> Option<&Self> {
        match self {
            Self::Abc { second, .. } => second.as_deref(),
            Self::LossDifferentiation { controller, .. } => Some(controller),
            _ => None,
        }
    }
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

/// By what XCP's sender divides the round-trip time to give the time between two packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterPacketPlan {
    /// Whole packets of the window.
    WholePackets,
    /// The window, fractions included.
    Window,
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

/// How VCP's additive increase follows the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdditiveScalingPlan {
    /// With its square.
    Square,
    /// In proportion.
    Linear,
    /// Not at all.
    None,
}

/// Reference of VCP's additive increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VcpBoundsPlan {
    /// The paper's `t_ρ`.
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

/// Which acknowledgments of a history must tell of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryRulePlan {
    /// The newest T.
    Consecutive,
    /// Any T of N.
    Total,
}

/// What in an acknowledgment tells of congestion; echoes of CE marks always do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EvidencePlan {
    /// What routers wrote.
    Feedback,
    /// A queueing delay above this share of the largest seen.
    QueueingDelay {
        /// The share.
        share: f64,
    },
}

/// What an overload does in the round trip of additive increase after VCP's freeze.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterFreezePlan {
    /// Nothing, as in the authors' code.
    Author,
    /// Nothing while the decrease takes more than the round trip gives.
    Guarded,
    /// It decreases again; there is no such round trip.
    Obey,
}
