//! The estimators into which a capture is replayed.

use airpath_estimate::{AckRate, AckRateConfig, ConfigError, SamplerConfig};
use airpath_model::Duration;

/// The clock tick of current stacks, used if the capture does not reveal another.
const USUAL_TICK: Duration = Duration::from_millis(1);

/// An estimator with its name in results.
#[derive(Clone, Debug)]
pub struct NamedEstimator {
    name: String,
    made_of: MadeOf,
}

/// The prototype of a flow's estimator.
#[derive(Clone, Debug)]
enum MadeOf {
    Config(AckRateConfig),
    /// A copy of an existing estimator.
    Copy(Box<AckRate>),
}

impl NamedEstimator {
    /// Creates an estimator from its configuration.
    ///
    /// # Errors
    /// Returns an error if a parameter is outside its range.
    pub fn new(name: impl Into<String>, config: AckRateConfig) -> Result<Self, ConfigError> {
        AckRate::new(config)?;
        Ok(Self { name: name.into(), made_of: MadeOf::Config(config) })
    }

    /// Creates a prototype that is copied for each flow.
    pub fn copied(name: impl Into<String>, estimator: AckRate) -> Self {
        Self { name: name.into(), made_of: MadeOf::Copy(Box::new(estimator)) }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the estimator of a flow whose receiver's timestamps advance in steps of `tick`.
    ///
    /// # Panics
    /// Never: [`NamedEstimator::new`] rejects parameters outside their range, and a coarser clock is inside it.
    pub fn estimator(&self, tick: Option<Duration>) -> AckRate {
        match &self.made_of {
            MadeOf::Config(config) => AckRate::new(over(*config, tick)).expect("its parameters are in range"),
            MadeOf::Copy(estimator) => (**estimator).clone(),
        }
    }
}

/// Returns the configuration for a flow whose receiver's timestamps advance in steps of `tick`: samples by
/// the receiver's clock are no finer than that clock.
fn over(config: AckRateConfig, tick: Option<Duration>) -> AckRateConfig {
    match config {
        AckRateConfig::Filtered { sampler: SamplerConfig::ReceiverClock { resolution }, filter } => {
            let resolution = resolution.max(tick.unwrap_or(USUAL_TICK));
            AckRateConfig::Filtered { sampler: SamplerConfig::ReceiverClock { resolution }, filter }
        }
        other => other,
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
    fn timestamps_have_the_resolution_of_the_coarser_clock() {
        let (fine, ms, coarse) =
            (Duration::from_nanos(1_000), Duration::from_millis(1), Duration::from_millis(10));
        assert_eq!(over(by_receiver_clock(fine), None), by_receiver_clock(ms));
        assert_eq!(over(by_receiver_clock(fine), Some(coarse)), by_receiver_clock(coarse));
        assert_eq!(over(by_receiver_clock(coarse), Some(ms)), by_receiver_clock(coarse));
    }

    #[test]
    fn estimators_that_cannot_be_built_are_rejected() {
        assert!(NamedEstimator::new("still", by_receiver_clock(Duration::ZERO)).is_err());
    }
}
