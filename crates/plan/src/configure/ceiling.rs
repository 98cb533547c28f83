//! Estimators of a window's ceiling, from the plan.

use airpath_control::{ConfigError, ProbingGrowth};
use airpath_estimate::{CeilingProfile, EbeCeiling, EbeCeilingConfig, RttThreshold, Trigger};

use crate::plan::{CeilingProfilePlan, EbeCeilingPlan, ProbingGrowthPlan, RttThresholdPlan};

/// EBE as planned.
pub(super) fn ebe_ceiling(plan: &EbeCeilingPlan) -> Result<EbeCeiling, ConfigError> {
    EbeCeiling::new(EbeCeilingConfig {
        profile: match plan.profile {
            CeilingProfilePlan::Journal => CeilingProfile::Journal,
            CeilingProfilePlan::Recommended => CeilingProfile::Recommended,
            CeilingProfilePlan::None => CeilingProfile::None,
        },
        trigger: Trigger { epsilon: plan.epsilon, omega: plan.omega, nu: plan.nu },
        maintainer: plan.maintainer.map(|threshold| match threshold {
            RttThresholdPlan::QueueingDelay => RttThreshold::Queueing,
            RttThresholdPlan::Literal => RttThreshold::Literal,
        }),
        threshold: plan.threshold,
        upsilon: plan.upsilon,
        hold_off: plan.hold_off,
        ..EbeCeilingConfig::default()
    })
}

pub(super) const fn probing_growth(plan: ProbingGrowthPlan) -> ProbingGrowth {
    match plan {
        ProbingGrowthPlan::Acknowledged => ProbingGrowth::Acknowledged,
        ProbingGrowthPlan::Interval => ProbingGrowth::Interval,
        ProbingGrowthPlan::Increment => ProbingGrowth::Increment,
        ProbingGrowthPlan::Ceiling => ProbingGrowth::Ceiling,
    }
}
