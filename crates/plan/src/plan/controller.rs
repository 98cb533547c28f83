//! Congestion controllers.

use airpath_control::declare::{Controllers, SlowStarts};
use serde::{Deserialize, Serialize};

use super::declared::declared_or_listed;
use super::{
    AckRatePlan, ComponentPlan, Counting, CubicForm, EbeCeilingPlan, ProbingGrowthPlan, ThresholdUnit,
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
    ["cubic-ebe", "westwood", "loss-differentiation", "fixed", "agent", "kernel"]
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
