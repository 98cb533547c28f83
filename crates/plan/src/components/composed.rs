//! Components that consist of parts of several crates.

use airpath_control::declare::{AnySlowStart, RuleConfig, SlowStarts};
use airpath_control::{
    Cubic, CubicConfig, CubicEbe, EstimatedSsthresh, ProbingGrowth, StandardSlowStart, Westwood,
    WestwoodConfig,
};
use airpath_estimate::{AckRate, AckRateConfig, EbeCeiling, EbeCeilingConfig, FilterConfig, SamplerConfig};
use airpath_model::Duration;
use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, JsonSchema};
use serde::{Deserialize, Serialize};

/// As `standard`, towards an initial threshold from the least-squares slope of three acknowledgments (Hoe 1996).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct HoeConfig {}

impl Component<SlowStarts> for HoeConfig {
    const ID: &'static str = "hoe";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(EstimatedSsthresh::new(StandardSlowStart::default(), AckRate::new(HOE)?)))
    }
}

/// Hoe (1996): the slope through three acknowledgments. Closely spaced is our choice: packets that left within 1 ms.
const HOE: AckRateConfig = AckRateConfig::Filtered {
    sampler: SamplerConfig::BackToBack { spacing: Duration::from_millis(1), acks: 3 },
    filter: FilterConfig::First,
};

/// Westwood's decrease over an ACK-rate estimator.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct EstimatedWestwoodConfig {
    /// The ACK-rate estimator.
    #[serde(default)]
    #[schemars(extend("x-component" = "ack-rate"))]
    estimator: AckRateConfig,
    #[serde(flatten)]
    westwood: WestwoodConfig,
}

impl RuleConfig for EstimatedWestwoodConfig {
    const ID: &'static str = "westwood";
    type Rule = Westwood<AckRate>;

    fn rule(&self) -> Result<Self::Rule, ConfigError> {
        Ok(Westwood::new(AckRate::new(self.estimator)?, self.westwood))
    }
}

/// CUBIC whose `W_max` follows EBE's window ceiling.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct CeilingCubicConfig {
    #[serde(flatten)]
    cubic: CubicConfig,
    #[serde(flatten)]
    ceiling: EbeCeilingConfig,
    /// What Upsilon multiplies while the maintainer is on: the window, by Upsilon - 1 segments for each `acknowledged`
    /// one or at once at each `interval` of 200 ms; CUBIC's `increment`; or W_max (`ceiling`).
    #[serde(default)]
    probing_growth: ProbingGrowth,
}

impl RuleConfig for CeilingCubicConfig {
    const ID: &'static str = "cubic-ebe";
    const SLOW_START: &'static str = "per-acknowledgment";
    type Rule = CubicEbe<EbeCeiling>;

    fn rule(&self) -> Result<Self::Rule, ConfigError> {
        let cubic = Cubic::new(self.cubic)?;
        Ok(CubicEbe::new(cubic, EbeCeiling::new(self.ceiling)?, self.probing_growth))
    }
}
