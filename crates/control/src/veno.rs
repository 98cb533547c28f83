//! TCP Veno: Reno that uses the queue to guess whether a loss is congestion.

use airpath_model::{AckEvent, Bytes, CongestionEvent, CongestionSignal, Measurement, Probe, RttEstimate};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::{ConfigError, Counting, NewReno, WindowRule};
use airpath_model::config::check;

/// The parameters of Veno.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct VenoConfig {
    /// Number of segments in the queue from which a loss counts as congestion.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub beta: f64,
    /// Share of the window that remains after a loss with fewer segments in the queue (the paper: 4/5).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub keep: f64,
    /// The unit by which the window grows in congestion avoidance: `bytes`, or `acknowledgments` as in Linux
    /// 2.6.22, which is half as fast with delayed acknowledgments.
    pub counting: Counting,
}

impl Default for VenoConfig {
    /// Returns the values of Fu and Liew 2003, section II, which Linux also uses.
    fn default() -> Self {
        Self { beta: 3.0, keep: 0.8, counting: Counting::Bytes }
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for VenoConfig {
    const ID: &'static str = "veno";
    type Rule = Veno;

    fn rule(&self) -> Result<Veno, ConfigError> {
        Veno::new(*self)
    }
}

/// Veno (Fu and Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", 2003). The
/// backlog
///
/// `N = cwnd (1 - BaseRTT / RTT)` (segments in the queue, as in Vegas)
///
/// distinguishes two states. While N < β the window grows as in Reno, and a loss counts as random and keeps
/// 4/5 of the window. From N = β on the window grows only every other time, by one segment in two round
/// trips, and a loss halves it.
///
/// RTT is the newest sample and `BaseRTT` the smallest since the flow began, as in Linux 2.6.22. A timeout
/// and a CE echo halve the window in either state: the paper treats the timeout as in Reno, and a mark is
/// never random.
///
/// Telemetry: `backlog`, N in segments, at each signal.
#[derive(Clone, Debug)]
pub struct Veno {
    config: VenoConfig,
    reno: NewReno,
    /// Whether the next growth in the congestive state is skipped.
    leave_out: bool,
}

impl Veno {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`VenoConfig`].
    pub fn new(config: VenoConfig) -> Result<Self, ConfigError> {
        let VenoConfig { beta, keep, counting } = config;
        check(beta > 0.0 && beta.is_finite(), "beta", "greater than 0 and finite", beta)?;
        check(keep > 0.0 && keep < 1.0, "keep", "between 0 and 1, both excluded", keep)?;
        Ok(Self { config, reno: NewReno::new(counting), leave_out: false })
    }
}

/// Returns N, in segments; zero before the first RTT sample.
fn backlog(window: Bytes, mss: Bytes, rtt: &RttEstimate) -> f64 {
    if rtt.latest.is_zero() {
        return 0.0;
    }
    let cwnd = window.as_f64() / mss.as_f64();
    cwnd * (1.0 - rtt.minimum.as_secs_f64() / rtt.latest.as_secs_f64())
}

impl WindowRule for Veno {
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let grown = self.reno.congestion_avoidance(window, event);
        if grown == window || backlog(window, event.mss, &event.rtt) < self.config.beta {
            return grown;
        }
        self.leave_out = !self.leave_out;
        if self.leave_out { window } else { grown }
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        self.reno = NewReno::new(self.config.counting);
        let backlog = backlog(window, event.mss, &event.rtt);
        probe.record(event.now, Measurement::Named("backlog", backlog));
        let random = event.signal == CongestionSignal::Loss && backlog < self.config.beta;
        window.mul_f64(if random { self.config.keep } else { 0.5 })
    }
}

#[cfg(test)]
mod tests;
