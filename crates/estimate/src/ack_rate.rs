//! Bandwidth from acknowledgments: a [`Sampler`] takes samples, and a [`Filter`] computes an estimate from
//! them.
//!
//! Any sampler can be combined with any filter. [`WestwoodPlus`] in Linux cannot be divided in this way: it
//! computes in integers and has its own rule for the smallest RTT.

mod acked_count;
mod filter;
mod outside;
mod sample;
mod sampler;
mod westwood_plus;

use alloc::boxed::Box;

#[cfg(feature = "declare")]
use airpath_model::declare::{ComponentPlan, Variants, defaults, plain_kind};
use airpath_model::{
    AckEvent, AckRateEstimator, AckRateRequirements, CongestionEvent, Duration, Measurement, Probe,
};

use crate::ConfigError;
pub use acked_count::AckedCount;
#[cfg(feature = "declare")]
pub use filter::Filters;
pub use filter::bilinear::{Bilinear, VirtualSamples};
pub use filter::link_state::LinkState;
pub use filter::stability::{MAX_STABILITY_WINDOW, Stability, StabilityStep};
pub use filter::two_state::TwoState;
pub use filter::{Filter, FilterConfig, Start};
pub use outside::OutsideEstimator;
pub use sample::Sample;
#[cfg(feature = "declare")]
pub use sampler::Samplers;
pub use sampler::{Sampler, SamplerConfig};
pub use westwood_plus::WestwoodPlus;

/// The parameters of an ACK-rate estimator: plain values, from which [`AckRate::new`] creates one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields))]
pub enum AckRateConfig {
    /// A sampler and a filter. The default is that of Westwood (Casetti et al. 2001).
    Filtered {
        /// The source of samples.
        #[cfg_attr(
            feature = "declare",
            serde(default),
            schemars(extend("x-component" = "sampler"))
        )]
        sampler: SamplerConfig,
        /// The filter that smooths the samples.
        #[cfg_attr(
            feature = "declare",
            serde(default),
            schemars(extend("x-component" = "filter"))
        )]
        filter: FilterConfig,
    },
    /// Westwood+ as in Linux.
    WestwoodPlus {
        /// HZ: ticks of the kernel's clock per second, its unit of time (1000 or 250 are usual).
        #[cfg_attr(
            feature = "declare",
            serde(default = "default::ticks_per_second"),
            schemars(range(min = 20, max = 1_000_000))
        )]
        ticks_per_second: u32,
    },
}

#[cfg(feature = "declare")]
defaults! {
    ticks_per_second: u32 = 1000;
}

#[cfg(feature = "declare")]
impl Default for AckRateConfig {
    fn default() -> Self {
        Self::Filtered { sampler: SamplerConfig::default(), filter: FilterConfig::default() }
    }
}

#[cfg(feature = "declare")]
plain_kind! {
    /// ACK-rate estimators.
    AckRates, "ack-rate", AckRate
}

#[cfg(feature = "declare")]
impl From<AckRateConfig> for ComponentPlan<AckRates> {
    fn from(config: AckRateConfig) -> Self {
        Self::of(&config)
    }
}

#[cfg(feature = "declare")]
impl Variants<AckRates> for AckRateConfig {
    fn build(&self, (): ()) -> Result<AckRate, ConfigError> {
        AckRate::new(*self)
    }
}

/// An ACK-rate estimator. Those of this crate are plain values: no allocation, cheap to copy.
#[derive(Clone, Debug)]
pub struct AckRate(Kind);

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each flow, and nothing is allocated for its copies")]
enum Kind {
    Filtered { count: AckedCount, sampler: Sampler, filter: Filter },
    WestwoodPlus(WestwoodPlus),
    Outside(Box<dyn OutsideEstimator>),
}

impl AckRate {
    /// Creates an estimator without any samples.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(config: AckRateConfig) -> Result<Self, ConfigError> {
        Ok(Self(match config {
            AckRateConfig::Filtered { sampler, filter } => Kind::Filtered {
                count: AckedCount::default(),
                sampler: Sampler::new(sampler)?,
                filter: Filter::new(filter)?,
            },
            AckRateConfig::WestwoodPlus { ticks_per_second } => {
                Kind::WestwoodPlus(WestwoodPlus::new(ticks_per_second)?)
            }
        }))
    }

    /// Wraps an estimator that is not part of this crate.
    pub fn outside(estimator: impl OutsideEstimator + 'static) -> Self {
        Self(Kind::Outside(Box::new(estimator)))
    }
}

impl AckRateEstimator for AckRate {
    fn requirements(&self) -> AckRateRequirements {
        match &self.0 {
            Kind::Filtered { sampler, filter, .. } => {
                let needs = sampler.requirements();
                AckRateRequirements { rtt: needs.rtt || filter.needs_rtt(), ..needs }
            }
            Kind::WestwoodPlus(_) => AckRateRequirements { rtt: true, ..AckRateRequirements::default() },
            Kind::Outside(outside) => outside.requirements(),
        }
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        let sample = match &mut self.0 {
            Kind::Filtered { count, sampler, filter } => {
                filter.on_ack(event);
                let sample = sampler.on_ack(count.count(event), event);
                sample.map(|sample| (sample.bandwidth, filter.update(sample).max(0.0)))
            }
            Kind::WestwoodPlus(westwood) => westwood.on_ack(event),
            Kind::Outside(outside) => return outside.on_ack(event, probe),
        };
        if let Some((sample, estimate)) = sample {
            probe.record(event.now, Measurement::BandwidthSample(sample));
            probe.record(event.now, Measurement::Bandwidth(estimate));
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match &mut self.0 {
            Kind::Filtered { filter, .. } => filter.on_congestion(event),
            Kind::WestwoodPlus(westwood) => westwood.on_congestion(event.signal),
            Kind::Outside(outside) => outside.on_congestion(event),
        }
    }

    fn bandwidth(&self) -> Option<f64> {
        match &self.0 {
            // A bilinear filter without virtual samples has a negative pole after a long silence.
            Kind::Filtered { filter, .. } => filter.estimate().map(|estimate| estimate.max(0.0)),
            Kind::WestwoodPlus(westwood) => westwood.bandwidth(),
            Kind::Outside(outside) => outside.bandwidth(),
        }
    }

    fn minimum_rtt(&self) -> Option<Duration> {
        match &self.0 {
            Kind::Filtered { .. } => None,
            Kind::WestwoodPlus(westwood) => westwood.minimum_rtt(),
            Kind::Outside(outside) => outside.minimum_rtt(),
        }
    }
}
