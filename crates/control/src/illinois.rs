//! TCP Illinois: losses determine when the window decreases; the queueing delay determines how much it
//! decreases and how fast it grows.

use airpath_model::config::check;
use airpath_model::{AckEvent, Bytes, CongestionEvent, CongestionSignal, Duration, Measurement, Probe};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::whole_bytes::WholeBytes;
use crate::{ConfigError, WindowRule};

/// Shares of the largest queueing delay: up to η1 α is largest, up to η2 β is smallest, from η3 β is largest.
const ETA: [f64; 3] = [0.01, 0.1, 0.8];

/// The parameters of TCP Illinois.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default),
    schemars(
        title = "TCP Illinois",
        description = "increase shrinks and decrease grows with the queueing delay (2006; as in Linux)"
    )
)]
pub struct IllinoisConfig {
    /// α_min: growth in segments per round trip at the largest queueing delay.
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "x-at-most" = "alpha_max"))
    )]
    pub alpha_min: f64,
    /// α_max: growth in segments per round trip without queueing delay; at least `alpha_min`.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub alpha_max: f64,
    /// β_min: share of the window that a loss removes at a short queueing delay.
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1, "x-at-most" = "beta_max"))
    )]
    pub beta_min: f64,
    /// β_max: share of the window that a loss removes at a long queueing delay; at least `beta_min`.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub beta_max: f64,
    /// Window in segments below which Reno's rule applies.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub win_thresh: f64,
    /// θ: number of round trips with a short queueing delay after which the growth returns to `alpha_max`.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub theta: u32,
}

impl Default for IllinoisConfig {
    /// Returns the values of Liu, Başar and Srikant 2006, which Linux also uses.
    fn default() -> Self {
        Self { alpha_min: 0.3, alpha_max: 10.0, beta_min: 0.125, beta_max: 0.5, win_thresh: 15.0, theta: 5 }
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for IllinoisConfig {
    const ID: &'static str = "illinois";
    type Rule = Illinois;

    fn rule(&self) -> Result<Illinois, ConfigError> {
        Illinois::new(*self)
    }
}

/// Illinois (Liu, Başar and Srikant, "TCP-Illinois: a loss and delay-based congestion control algorithm for
/// high-speed networks", 2006). Each window of acknowledged segments adds α segments; a signal removes the
/// share β of the window. Both are computed once a round trip from `d_a`, the average queueing delay of the
/// round, and `d_m`, the largest observed one:
///
/// `α = α_max` for `d_a ≤ η1 d_m`, else `κ1 / (κ2 + d_a)`, with κ1 and κ2 such that α is `α_max` at `η1 d_m`
/// and `α_min` at `d_m`;
/// `β = β_min` for `d_a ≤ η2 d_m`, `β_max` for `d_a ≥ η3 d_m`, and linear in between.
///
/// After a delay above `η1 d_m`, α returns to `α_max` at the θ-th round trip below it. In windows below
/// `win_thresh`, and after a timeout, α = 1 and β = 1/2.
///
/// Telemetry: `alpha` each round trip, `beta` at each signal.
#[derive(Clone, Debug)]
pub struct Illinois {
    config: IllinoisConfig,
    alpha: f64,
    beta: f64,
    /// The number of the current round trip.
    round: u64,
    /// Sum and number of the RTT samples of the round.
    sum: Duration,
    samples: u64,
    rtt_max: Duration,
    /// Whether a delay above η1 has been observed since α was last `α_max`.
    above: bool,
    /// Number of round trips with a short delay since the last delay above η1.
    short: u32,
    growth: WholeBytes,
}

impl Illinois {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`IllinoisConfig`].
    pub fn new(config: IllinoisConfig) -> Result<Self, ConfigError> {
        let IllinoisConfig { alpha_min, alpha_max, beta_min, beta_max, win_thresh, theta } = config;
        let positive = alpha_max > 0.0 && alpha_max.is_finite();
        check(positive, "alpha_max", "greater than 0 and finite", alpha_max)?;
        let ordered = alpha_min > 0.0 && alpha_min <= alpha_max;
        check(ordered, "alpha_min", "greater than 0 and at most alpha_max", alpha_min)?;
        check(beta_max > 0.0 && beta_max < 1.0, "beta_max", "between 0 and 1, both excluded", beta_max)?;
        let ordered = beta_min > 0.0 && beta_min <= beta_max;
        check(ordered, "beta_min", "greater than 0 and at most beta_max", beta_min)?;
        let finite = win_thresh >= 0.0 && win_thresh.is_finite();
        check(finite, "win_thresh", "at least 0 and finite", win_thresh)?;
        check(theta >= 1, "theta", "at least 1", theta.into())?;
        Ok(Self {
            config,
            alpha: alpha_max,
            beta: beta_max,
            round: 0,
            sum: Duration::ZERO,
            samples: 0,
            rtt_max: Duration::ZERO,
            above: false,
            short: 0,
            growth: WholeBytes::default(),
        })
    }

    /// Ends a round trip during which the window was `cwnd` segments.
    fn end_round(&mut self, cwnd: f64, base: Duration) {
        if cwnd < self.config.win_thresh {
            (self.alpha, self.beta) = (1.0, 0.5);
        } else if self.samples > 0 {
            let average = (self.sum / self.samples - base).as_secs_f64();
            let largest = (self.rtt_max - base).as_secs_f64();
            self.alpha = self.increase(average, largest);
            self.beta = self.decrease(average, largest);
        }
        (self.sum, self.samples) = (Duration::ZERO, 0);
    }

    /// Returns α at these queueing delays, in seconds.
    fn increase(&mut self, average: f64, largest: f64) -> f64 {
        let IllinoisConfig { alpha_min, alpha_max, theta, .. } = self.config;
        let low = ETA[0] * largest;
        if average > low {
            self.above = true;
            // κ1 / (κ2 + d_a), written without the quotient that is undefined for equal bounds.
            let range = largest - low;
            return alpha_max * range / (range + (average - low) * (alpha_max / alpha_min - 1.0));
        }
        if self.above {
            self.short += 1;
            if self.short < theta {
                return self.alpha;
            }
        }
        (self.above, self.short) = (false, 0);
        alpha_max
    }

    /// Returns β at these queueing delays, in seconds.
    fn decrease(&self, average: f64, largest: f64) -> f64 {
        let IllinoisConfig { beta_min, beta_max, .. } = self.config;
        let [_, low, high] = ETA.map(|share| share * largest);
        if average <= low {
            return beta_min;
        }
        beta_min + (beta_max - beta_min) * ((average - low) / (high - low)).min(1.0)
    }
}

impl WindowRule for Illinois {
    fn on_ack(&mut self, window: Bytes, event: &AckEvent, probe: &mut dyn Probe) {
        if event.round > self.round {
            self.round = event.round;
            self.end_round(window.as_f64() / event.mss.as_f64(), event.rtt.minimum);
            probe.record(event.now, Measurement::Named("alpha", self.alpha));
        }
        if let Some(sample) = event.rtt_sample {
            self.sum += sample;
            self.samples += 1;
            self.rtt_max = self.rtt_max.max(sample);
        }
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let windows = event.acked.as_f64() / window.as_f64();
        window + self.growth.pay(self.alpha * windows * event.mss.as_f64())
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        self.growth = WholeBytes::default();
        probe.record(event.now, Measurement::Named("beta", self.beta));
        let threshold = window.mul_f64(1.0 - self.beta);
        if event.signal == CongestionSignal::Timeout {
            (self.alpha, self.beta) = (1.0, 0.5);
            (self.above, self.short) = (false, 0);
            (self.sum, self.samples) = (Duration::ZERO, 0);
        }
        threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn illinois() -> Illinois {
        Illinois::new(IllinoisConfig::default()).unwrap()
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }

    /// κ1 and κ2 as printed in the paper, at a largest delay of 100 ms.
    #[test]
    fn the_increase_is_the_hyperbola_of_the_paper() {
        let (range, d1) = (0.099, 0.001);
        let k1 = range * 0.3 * 10.0 / (10.0 - 0.3);
        let k2 = range * 0.3 / (10.0 - 0.3) - d1;
        for average in [0.0011, 0.01, 0.05, 0.1] {
            assert_near(illinois().increase(average, 0.1), k1 / (k2 + average));
        }
        assert_near(illinois().increase(0.1, 0.1), 0.3);
        assert_near(illinois().increase(0.001, 0.1), 10.0);
    }

    #[test]
    fn the_decrease_is_a_straight_line_between_two_delays() {
        for (average, beta) in [(0.0, 0.125), (0.01, 0.125), (0.045, 0.3125), (0.08, 0.5), (0.1, 0.5)] {
            assert_near(illinois().decrease(average, 0.1), beta);
        }
    }

    #[test]
    fn the_increase_returns_to_its_largest_value_after_theta_rounds() {
        let mut rule = illinois();
        rule.alpha = rule.increase(0.1, 0.1);
        for _ in 1..5 {
            rule.alpha = rule.increase(0.0, 0.1);
            assert_near(rule.alpha, 0.3);
        }
        assert_near(rule.increase(0.0, 0.1), 10.0);
        // Without a long delay in between, one round is enough.
        assert_near(rule.increase(0.0, 0.1), 10.0);
    }

    #[test]
    fn small_windows_follow_reno() {
        let mut rule = illinois();
        rule.end_round(14.0, Duration::ZERO);
        assert_near(rule.alpha, 1.0);
        assert_near(rule.beta, 0.5);
    }

    #[test]
    fn parameters_outside_their_range_are_rejected() {
        let default = IllinoisConfig::default();
        for config in [
            IllinoisConfig { alpha_min: 11.0, ..default },
            IllinoisConfig { beta_max: 0.1, ..default },
            IllinoisConfig { beta_max: 1.0, ..default },
            IllinoisConfig { win_thresh: f64::NAN, ..default },
            IllinoisConfig { theta: 0, ..default },
        ] {
            assert!(Illinois::new(config).is_err(), "{config:?}");
        }
    }
}
