//! The true capacity of the link: the bound that no estimator can exceed.

use alloc::boxed::Box;

#[cfg(feature = "declare")]
use airpath_model::config::{ConfigError, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, defaults};
use airpath_model::{CapacitySource, Duration, Timestamp, TrueRate};

#[cfg(feature = "declare")]
use crate::declare::{CapacitySources, SourceFacts};
use crate::report;

/// The true capacity at every moment: the bound that no estimator can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct OracleConfig {
    /// Averaging time of the capacity on a link with delivery opportunities instead of a rate; at
    /// least 1 ms. The default is EBE's estimation interval.
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::averaging"),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000))
    )]
    pub averaging: Duration,
}

#[cfg(feature = "declare")]
defaults! {
    averaging: Duration = Duration::from_millis(200);
}

#[cfg(feature = "declare")]
impl Component<CapacitySources> for OracleConfig {
    const ID: &'static str = "oracle";

    fn build(&self, facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        check_timer(self.averaging, "averaging")?;
        Ok(Box::new(Oracle::new(facts.truth.averaged_over(self.averaging))))
    }
}

/// A source that returns the true rate at the time of each call; zero in an outage.
#[derive(Debug)]
pub struct Oracle {
    truth: Box<dyn TrueRate>,
    /// The last returned value, byte/s, which the protocol uses until its next call.
    answered: Option<f64>,
}

impl Oracle {
    /// Creates a source that reads `truth`.
    pub fn new(truth: Box<dyn TrueRate>) -> Self {
        Self { truth, answered: None }
    }
}

impl CapacitySource for Oracle {
    fn capacity(&mut self, now: Timestamp) -> Option<f64> {
        self.answered = Some(self.truth.rate(now).bytes_per_second());
        self.answered
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        if let Some(capacity) = self.answered {
            report::capacity(report, capacity);
        }
    }
}
