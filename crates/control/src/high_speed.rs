//! `HighSpeed` TCP: increase and decrease that depend on the window (RFC 3649).

use airpath_model::{AckEvent, Bytes, CongestionEvent, Probe};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::whole_bytes::WholeBytes;
use crate::{ConfigError, Counting, WindowRule};
use airpath_model::config::check;

/// The constants of RFC 3649, section 5, under the names of the RFC.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct HighSpeedConfig {
    /// `Low_Window` in segments; up to this window the rule of standard TCP applies.
    #[cfg_attr(feature = "declare", schemars(range(min = 1.0), extend("x-less-than" = "high_window")))]
    pub low_window: f64,
    /// `High_Window` in segments; more than `low_window`.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub high_window: f64,
    /// `Low_P`: the loss rate at which the window is `low_window`.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub low_p: f64,
    /// `High_P`: the loss rate at which the window is `high_window`; less than `low_p`.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1, "x-less-than" = "low_p")))]
    pub high_p: f64,
    /// `High_Decrease`: the share of the window that is removed at `high_window`.
    #[cfg_attr(feature = "declare", schemars(range(max = 0.5), extend("exclusiveMinimum" = 0)))]
    pub high_decrease: f64,
    /// The unit by which the window grows in congestion avoidance: `bytes`, or `acknowledgments` as in Linux
    /// 2.6.22, which is half as fast with delayed acknowledgments.
    pub counting: Counting,
}

impl Default for HighSpeedConfig {
    /// Returns the values of RFC 3649, section 5.
    fn default() -> Self {
        Self {
            low_window: 38.0,
            high_window: 83_000.0,
            low_p: 1e-3,
            high_p: 1e-7,
            high_decrease: 0.1,
            counting: Counting::Bytes,
        }
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for HighSpeedConfig {
    const ID: &'static str = "highspeed";
    type Rule = HighSpeed;

    fn rule(&self) -> Result<HighSpeed, ConfigError> {
        HighSpeed::new(*self)
    }
}

/// `HighSpeed` TCP. Each window of acknowledged segments adds a(w) segments, a signal removes the share b(w)
/// of the window (RFC 3649, section 5):
///
/// `b(w) = (High_Decrease - 0.5) (ln w - ln W) / (ln W1 - ln W) + 0.5`,
/// `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))`,
///
/// with W = `Low_Window`, W1 = `High_Window`, and p(w) the line through (W, `Low_P`) and (W1, `High_P`) in
/// logarithms of both. Up to W, a = 1 and b = 0.5. Above W1, which the RFC does not specify, b stays at
/// `High_Decrease`.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    config: HighSpeedConfig,
    whole_bytes: WholeBytes,
}

impl HighSpeed {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`HighSpeedConfig`].
    pub fn new(config: HighSpeedConfig) -> Result<Self, ConfigError> {
        let HighSpeedConfig { low_window, high_window, low_p, high_p, high_decrease, .. } = config;
        check(low_window >= 1.0 && low_window.is_finite(), "low_window", "at least 1 segment", low_window)?;
        let above = high_window > low_window && high_window.is_finite();
        check(above, "high_window", "more than low_window and finite", high_window)?;
        check(high_p > 0.0 && high_p.is_finite(), "high_p", "greater than 0", high_p)?;
        check(low_p > high_p && low_p < 1.0, "low_p", "more than high_p and less than 1", low_p)?;
        let removed = high_decrease > 0.0 && high_decrease <= 0.5;
        check(removed, "high_decrease", "greater than 0 and at most 0.5", high_decrease)?;
        Ok(Self { config, whole_bytes: WholeBytes::default() })
    }

    /// Returns the position of `w` between `Low_Window` (0) and `High_Window` (1), in logarithms.
    fn position(&self, w: f64) -> f64 {
        libm::log(w / self.config.low_window) / libm::log(self.config.high_window / self.config.low_window)
    }

    /// Returns a(w), in segments for each window of `w` segments.
    fn increase(&self, w: f64) -> f64 {
        if w <= self.config.low_window {
            return 1.0;
        }
        let b = self.decrease(w);
        w * w * self.loss_rate(w) * 2.0 * b / (2.0 - b)
    }

    /// Returns p(w), the loss rate at which the average window is `w` segments, above `Low_Window`.
    fn loss_rate(&self, w: f64) -> f64 {
        let HighSpeedConfig { low_p, high_p, .. } = self.config;
        low_p * libm::pow(high_p / low_p, self.position(w))
    }

    /// Returns b(w), the share of a window of `w` segments that is removed.
    fn decrease(&self, w: f64) -> f64 {
        if w <= self.config.low_window {
            return 0.5;
        }
        let b = (self.config.high_decrease - 0.5) * self.position(w) + 0.5;
        b.max(self.config.high_decrease)
    }
}

impl WindowRule for HighSpeed {
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let cwnd = window.as_f64() / event.mss.as_f64();
        let counted = self.config.counting.counted(event).as_f64();
        window + self.whole_bytes.pay(self.increase(cwnd) * counted / cwnd)
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, _probe: &mut dyn Probe) -> Bytes {
        let cwnd = window.as_f64() / event.mss.as_f64();
        window.mul_f64(1.0 - self.decrease(cwnd))
    }
}

#[cfg(test)]
mod tests;
