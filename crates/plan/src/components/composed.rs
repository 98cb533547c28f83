//! Components that consist of parts of several crates.

use airpath_control::declare::{AnySlowStart, Components, RuleConfig, SlowStarts};
use airpath_control::{
    Cubic, CubicConfig, CubicEbe, EstimatedSsthresh, ProbingGrowth, StandardSlowStart, Westwood,
    WestwoodConfig,
};
use airpath_estimate::declare::AckRates;
use airpath_estimate::{AckRate, AckRateConfig, EbeCeiling, EbeCeilingConfig, FilterConfig, SamplerConfig};
use airpath_model::Duration;
use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, ComponentError, JsonSchema, Nested};
use serde::{Deserialize, Serialize};

/// As `standard`, with an initial threshold from the least-squares slope of three acknowledgments (Hoe 1996).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct HoeConfig {}

impl Component<SlowStarts> for HoeConfig {
    const ID: &'static str = "hoe";

    fn build(&self, (): ()) -> Result<AnySlowStart, ConfigError> {
        Ok(AnySlowStart::new(EstimatedSsthresh::new(StandardSlowStart::default(), AckRate::new(HOE)?)))
    }
}

/// Hoe (1996): the slope through three acknowledgments. "Closely spaced" is our choice: packets sent within 1
/// ms.
const HOE: AckRateConfig = AckRateConfig::Filtered {
    sampler: SamplerConfig::BackToBack { spacing: Duration::from_millis(1), acks: 3 },
    filter: FilterConfig::First,
};

/// Westwood's decrease, with any ACK-rate estimator.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct EstimatedWestwoodConfig {
    /// The ACK-rate estimator.
    #[serde(default = "filtered")]
    estimator: Nested<AckRates>,
    #[serde(flatten)]
    westwood: WestwoodConfig,
}

impl RuleConfig for EstimatedWestwoodConfig {
    const ID: &'static str = "westwood";
    type Rule = Westwood<AckRate>;

    fn bind(&mut self, parts: &Components) -> Result<(), ComponentError> {
        self.estimator.bind(&parts.ack_rates, &()).map_err(|error| error.inside("estimator"))
    }

    fn rule(&self) -> Result<Self::Rule, ConfigError> {
        Ok(Westwood::new(self.estimator.build(())?, self.westwood))
    }
}

/// Returns the estimator of Westwood (Casetti et al. 2001).
fn filtered() -> Nested<AckRates> {
    Nested::named("filtered")
}

/// CUBIC whose `W_max` follows EBE's window ceiling.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct CeilingCubicConfig {
    #[serde(flatten)]
    cubic: CubicConfig,
    #[serde(flatten)]
    ceiling: EbeCeilingConfig,
    /// Quantity that Upsilon multiplies while the maintainer is on: the window, by Upsilon - 1 segments for
    /// each `acknowledged` one or at once at each `interval` of 200 ms; CUBIC's `increment`; or W_max
    /// (`ceiling`).
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
