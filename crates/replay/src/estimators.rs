//! The estimators that a capture is replayed into.

use airpath_estimate::{AckRate, AckRateConfig, ConfigError, SamplerConfig};
use airpath_model::Duration;

/// The clock of today's stacks, where a capture does not tell another.
const USUAL_TICK: Duration = Duration::from_millis(1);

/// An estimator and the name under which results have it.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedEstimator {
    name: String,
    config: AckRateConfig,
}

impl NamedEstimator {
    /// An estimator that can be made.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(name: impl Into<String>, config: AckRateConfig) -> Result<Self, ConfigError> {
        AckRate::new(config)?;
        Ok(Self { name: name.into(), config })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is over a flow whose receiver's timestamps advance in steps of `tick`: samples by the receiver's clock are no
    /// finer than that clock.
    pub fn config(&self, tick: Option<Duration>) -> AckRateConfig {
        match self.config {
            AckRateConfig::Filtered { sampler: SamplerConfig::ReceiverClock { resolution }, filter } => {
                let resolution = resolution.max(tick.unwrap_or(USUAL_TICK));
                AckRateConfig::Filtered { sampler: SamplerConfig::ReceiverClock { resolution }, filter }
            }
            other => other,
        }
    }

    pub(crate) fn estimator(&self, tick: Option<Duration>) -> AckRate {
        AckRate::new(self.config(tick)).expect("it could be made, and a coarser clock is a clock as well")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_estimate::FilterConfig;

    fn by_receiver_clock(resolution: Duration) -> AckRateConfig {
        let sampler = SamplerConfig::ReceiverClock { resolution };
        AckRateConfig::Filtered { sampler, filter: FilterConfig::Stability { beta: 0.8, window: 8 } }
    }

    #[test]
    fn stamps_are_as_coarse_as_the_coarser_of_the_two_clocks() {
        let (fine, ms, coarse) =
            (Duration::from_nanos(1_000), Duration::from_millis(1), Duration::from_millis(10));
        let named =
            |resolution| NamedEstimator::new("sarbe", by_receiver_clock(resolution)).expect("a clock");
        assert_eq!(named(fine).config(None), by_receiver_clock(ms));
        assert_eq!(named(fine).config(Some(coarse)), by_receiver_clock(coarse));
        assert_eq!(named(coarse).config(Some(ms)), by_receiver_clock(coarse));
    }

    #[test]
    fn what_cannot_be_made_has_no_name() {
        assert!(NamedEstimator::new("still", by_receiver_clock(Duration::ZERO)).is_err());
    }
}
