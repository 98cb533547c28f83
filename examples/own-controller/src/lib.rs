//! A congestion controller of one's own: AIMD with a free choice of both numbers.

use airpath_control::declare::RuleConfig;
use airpath_control::{ConfigError, WindowRule};
use airpath_model::{AckEvent, Bytes, CongestionEvent, Probe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of gentle AIMD. The comments are the help texts of the options.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GentleConfig {
    /// Growth in congestion avoidance, segments in a round trip.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub increase: f64,
    /// Share of the flight that remains after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub keep: f64,
}

impl Default for GentleConfig {
    fn default() -> Self {
        Self { increase: 1.0, keep: 0.8 }
    }
}

impl RuleConfig for GentleConfig {
    const ID: &'static str = "gentle";
    type Rule = Gentle;

    fn rule(&self) -> Result<Gentle, ConfigError> {
        let wrong = |parameter, range, value| Err(ConfigError { parameter, range, value });
        if !(0.0..=10.0).contains(&self.increase) {
            return wrong("increase", "0 to 10", self.increase);
        }
        if !(self.keep > 0.0 && self.keep < 1.0) {
            return wrong("keep", "more than 0, less than 1", self.keep);
        }
        Ok(Gentle(*self))
    }
}

/// Additive increase, multiplicative decrease.
#[derive(Clone, Debug)]
pub struct Gentle(GentleConfig);

impl WindowRule for Gentle {
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let share = event.acked.as_f64() / window.as_f64();
        window + event.mss.mul_f64(self.0.increase * share.min(1.0))
    }

    fn reduce(&mut self, _window: Bytes, event: &CongestionEvent, _probe: &mut dyn Probe) -> Bytes {
        event.flight_size.mul_f64(self.0.keep)
    }
}
