//! TCP Vegas: a window that keeps a few segments in the queue.

mod round;

use airpath_model::{AckEvent, Bytes, CongestionEvent, Duration, Measurement, Probe};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::{ConfigError, NewReno, WindowRule};
use airpath_model::config::check;
use round::Rounds;

/// The parameters of Vegas. Thresholds are segments in the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct VegasConfig {
    /// Number of the flow's segments in the queue below which the window grows. Linux 2, ns-2 1.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0), extend("x-at-most" = "beta")))]
    pub alpha: f64,
    /// Number of the flow's segments in the queue above which the window shrinks; at least alpha. Linux 4,
    /// ns-2 3.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub beta: f64,
    /// Number of the flow's segments in the queue above which slow start ends. Linux 1, ns-2 1.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub gamma: f64,
    /// Share of the window that remains after a loss. Linux 1/2, the paper 3/4.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub keep: f64,
}

impl Default for VegasConfig {
    /// Returns the values of Linux (`tcp_vegas.c`).
    fn default() -> Self {
        Self { alpha: 2.0, beta: 4.0, gamma: 1.0, keep: 0.5 }
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for VegasConfig {
    const ID: &'static str = "vegas";
    type Rule = Vegas;

    fn rule(&self) -> Result<Vegas, ConfigError> {
        Vegas::new(*self)
    }
}

/// Vegas (Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", 1995), as
/// in Linux. Once a round trip, with `BaseRTT` the smallest RTT since the flow began, RTT the smallest of the
/// round, and W the data acknowledged in it, in segments:
///
/// `Diff = W (1 - BaseRTT / RTT)`.
///
/// In congestion avoidance the window grows by one segment if Diff < α and shrinks by one if Diff > β. Slow
/// start ends if Diff > γ, and the window becomes `W BaseRTT / RTT + 1` if that is less, because the actual
/// rate fills the path.
///
/// The sample of the acknowledgment that ends a round belongs to that round, its acknowledged data to the
/// next one. A round counts if it was outside recovery and has at least three samples, because fewer may all
/// be of delayed acknowledgments. After a round with fewer samples, Reno's rule counts the first
/// acknowledgment of the next round. Signals keep the share `keep`.
///
/// Telemetry: `diff`, in segments, at the first signal after it was computed.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: VegasConfig,
    rounds: Rounds,
    /// The result of the round that ended with the newest acknowledgment.
    finding: Option<Finding>,
    reno: NewReno,
    /// The newest Diff, segments.
    diff: Option<f64>,
}

/// The result of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Finding {
    TooFewSamples,
    Backlog {
        /// Diff, segments.
        diff: f64,
        /// `W BaseRTT / RTT`: the window with which the actual rate causes no queue, bytes.
        target: f64,
    },
}

impl Vegas {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`VegasConfig`].
    pub fn new(config: VegasConfig) -> Result<Self, ConfigError> {
        let VegasConfig { alpha, beta, gamma, keep } = config;
        check(alpha >= 0.0 && alpha.is_finite(), "alpha", "at least 0 and finite", alpha)?;
        check(beta >= alpha && beta.is_finite(), "beta", "at least alpha and finite", beta)?;
        check(gamma >= 0.0 && gamma.is_finite(), "gamma", "at least 0 and finite", gamma)?;
        check(keep > 0.0 && keep < 1.0, "keep", "between 0 and 1, both excluded", keep)?;
        let rounds = Rounds::default();
        Ok(Self { config, rounds, finding: None, reno: NewReno::default(), diff: None })
    }
}

fn finding(round: &round::Round, base_rtt: Duration, mss: Bytes) -> Finding {
    let Some(rtt) = round.rtt() else { return Finding::TooFewSamples };
    let window = round.acked().as_f64();
    let target = window * (base_rtt.as_secs_f64() / rtt.as_secs_f64()).min(1.0);
    Finding::Backlog { diff: (window - target) / mss.as_f64(), target }
}

impl WindowRule for Vegas {
    fn on_ack(&mut self, _window: Bytes, event: &AckEvent, _probe: &mut dyn Probe) {
        let ended = self.rounds.acknowledged(event);
        self.finding = ended.map(|round| finding(&round, event.rtt.minimum, event.mss));
        if let Some(Finding::Backlog { diff, .. }) = self.finding {
            self.diff = Some(diff);
        }
    }

    fn end_slow_start(&mut self, window: Bytes, event: &AckEvent) -> Option<Bytes> {
        match self.finding {
            Some(Finding::Backlog { diff, target }) if diff > self.config.gamma => {
                Some(window.min(Bytes::from_f64(target) + event.mss).max(event.mss * 2))
            }
            _ => None,
        }
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        match self.finding {
            Some(Finding::TooFewSamples) => self.reno.congestion_avoidance(window, event),
            Some(Finding::Backlog { diff, .. }) if diff > self.config.beta => {
                (window - event.mss).max((event.mss * 2).min(window))
            }
            Some(Finding::Backlog { diff, .. }) if diff < self.config.alpha => window + event.mss,
            _ => window,
        }
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        self.rounds.interrupt();
        self.finding = None;
        self.reno = NewReno::default();
        if let Some(diff) = self.diff.take() {
            probe.record(event.now, Measurement::Named("diff", diff));
        }
        window.mul_f64(self.config.keep)
    }
}

#[cfg(test)]
mod tests;
