//! Bandwidth from acknowledgments: a [`Sampler`] takes samples, a [`Filter`] makes an estimate of them.
//!
//! Any sampler goes with any filter. [`WestwoodPlus`] in Linux cannot be taken apart so: it works in integers, and
//! keeps the smallest RTT in its own way.

mod acked_count;
mod filter;
mod sampler;
mod westwood_plus;

use airpath_model::{
    AckEvent, AckRateEstimator, AckRateRequirements, CongestionEvent, Duration, Measurement, Probe,
};

use crate::ConfigError;
pub use acked_count::AckedCount;
pub use filter::bilinear::{Bilinear, VirtualSamples};
pub use filter::link_state::LinkState;
pub use filter::stability::{MAX_STABILITY_WINDOW, Stability, StabilityStep};
pub use filter::two_state::TwoState;
pub use filter::{Filter, FilterConfig, Start};
pub use sampler::{Sample, Sampler, SamplerConfig, WindowLength};
pub use westwood_plus::WestwoodPlus;

/// Which ACK-rate estimator: plain values, from which [`AckRate::new`] makes one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AckRateConfig {
    /// A sampler and a filter.
    Filtered {
        /// Where samples come from.
        sampler: SamplerConfig,
        /// What smooths them.
        filter: FilterConfig,
    },
    /// Westwood+ as in Linux.
    WestwoodPlus {
        /// HZ of the kernel: its clock's ticks in a second. 1000 or 250 are usual.
        ticks_per_second: u32,
    },
}

/// An ACK-rate estimator. A plain value: no allocation, cheap to copy.
#[derive(Clone, Debug)]
pub struct AckRate(Kind);

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each flow, and nothing is allocated for its copies")]
enum Kind {
    Filtered { count: AckedCount, sampler: Sampler, filter: Filter },
    WestwoodPlus(WestwoodPlus),
}

impl AckRate {
    /// An estimator that has seen nothing.
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
}

impl AckRateEstimator for AckRate {
    fn requirements(&self) -> AckRateRequirements {
        match &self.0 {
            Kind::Filtered { sampler, filter, .. } => {
                let needs = sampler.requirements();
                AckRateRequirements { rtt: needs.rtt || filter.needs_rtt(), ..needs }
            }
            Kind::WestwoodPlus(_) => AckRateRequirements { rtt: true, ..AckRateRequirements::default() },
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
        }
    }

    fn bandwidth(&self) -> Option<f64> {
        match &self.0 {
            // A bilinear filter without virtual samples has a negative pole after a long silence.
            Kind::Filtered { filter, .. } => filter.estimate().map(|estimate| estimate.max(0.0)),
            Kind::WestwoodPlus(westwood) => westwood.bandwidth(),
        }
    }

    fn minimum_rtt(&self) -> Option<Duration> {
        match &self.0 {
            Kind::Filtered { .. } => None,
            Kind::WestwoodPlus(westwood) => westwood.minimum_rtt(),
        }
    }
}
