//! The true capacity of the link: the bound that no estimator can exceed.

use alloc::boxed::Box;

#[cfg(feature = "declare")]
use airpath_model::config::{ConfigError, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, defaults};
use airpath_model::{CapacitySource, ControlInterval, Duration, Spare, Timestamp, TrueRate};

#[cfg(feature = "declare")]
use crate::declare::{CapacitySources, SourceFacts};
use crate::{queue_target, report};

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
    /// Target of the queueing delay under XCP; the target queue is at most half the buffer.
    #[cfg_attr(feature = "declare", serde(default = "default::target"))]
    pub target: Duration,
}

#[cfg(feature = "declare")]
defaults! {
    averaging: Duration = Duration::from_millis(200);
    target: Duration = Duration::ZERO;
}

#[cfg(feature = "declare")]
impl Component<CapacitySources> for OracleConfig {
    const ID: &'static str = "oracle";

    fn build(&self, facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        check_timer(self.averaging, "averaging")?;
        Ok(Box::new(Oracle::new(facts.truth.averaged_over(self.averaging), self.target)))
    }
}

/// A source that returns the true rate at the time of each call; zero in an outage.
#[derive(Debug)]
pub struct Oracle {
    truth: Box<dyn TrueRate>,
    /// Target of the queueing delay, in seconds.
    target_s: f64,
    /// The last returned value, byte/s, which the protocol uses until its next call.
    answered: Option<f64>,
}

impl Oracle {
    /// Creates a source that reads `truth`, with a target of the queueing delay.
    pub fn new(truth: Box<dyn TrueRate>, target: Duration) -> Self {
        Self { truth, target_s: target.as_secs_f64(), answered: None }
    }
}

impl CapacitySource for Oracle {
    fn capacity(&mut self, now: Timestamp) -> Option<f64> {
        self.answered = Some(self.truth.rate(now).bytes_per_second());
        self.answered
    }

    fn spare(&mut self, interval: &ControlInterval) -> Spare {
        let capacity = self.truth.rate(interval.now).bytes_per_second();
        self.answered = Some(capacity);
        queue_target::spare(interval, capacity, self.target_s)
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        if let Some(capacity) = self.answered {
            report::capacity(report, capacity);
        }
    }
}
