//! A window rule with the slow start that is planned for it.

use airpath_control::{
    ConfigError, EstimatedSsthresh, EveryOtherRound, HystartPlusPlus, HystartPlusPlusConfig,
    StandardSlowStart, WindowRule, Windowed,
};
use airpath_model::{Bytes, Controller};

use crate::plan::{AckRatePlan, FilterPlan, SamplerPlan, SlowStartPlan};

/// A whole controller of a rule and a slow start.
pub(super) fn windowed<W: WindowRule + 'static>(
    rule: W,
    slow_start: SlowStartPlan,
    initial_window: Bytes,
    mss: Bytes,
) -> Result<Box<dyn Controller>, ConfigError> {
    Ok(match slow_start {
        SlowStartPlan::Standard => {
            Box::new(Windowed::new(rule, StandardSlowStart::default(), initial_window, mss)?)
        }
        SlowStartPlan::PerAcknowledgment => {
            Box::new(Windowed::new(rule, StandardSlowStart::new(1)?, initial_window, mss)?)
        }
        SlowStartPlan::EveryOtherRound => {
            Box::new(Windowed::new(rule, EveryOtherRound::default(), initial_window, mss)?)
        }
        SlowStartPlan::HystartPlusPlus => {
            let slow_start = HystartPlusPlus::new(HystartPlusPlusConfig::default())?;
            Box::new(Windowed::new(rule, slow_start, initial_window, mss)?)
        }
        SlowStartPlan::Hoe => {
            let slow_start = EstimatedSsthresh::new(StandardSlowStart::default(), HOE.build()?);
            Box::new(Windowed::new(rule, slow_start, initial_window, mss)?)
        }
    })
}

/// Hoe (1996): the slope through three acknowledgments. Closely spaced is ours: packets that left within 1 ms.
const HOE: AckRatePlan = AckRatePlan::Filtered {
    sampler: SamplerPlan::BackToBack { acks: 3, spacing_ns: 1_000_000 },
    filter: FilterPlan::First,
};
