//! H-TCP: growth by the time since the last loss, decrease by the ratio of RTTs.

mod throughput;

use airpath_model::{AckEvent, Bytes, CongestionEvent, Duration, Measurement, Probe, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::whole_bytes::WholeBytes;
use crate::{ConfigError, WindowRule};
use airpath_model::config::check;
use throughput::Throughput;

/// Number of shortest round trips after a signal during which queue and throughput are still those at the
/// signal.
const SETTLING_ROUNDS: u64 = 3;

/// Share of the excess of the longest RTT over the shortest that is kept at a signal, so that an old route is
/// forgotten.
const FADING: f64 = 0.95;

/// The round-trip time with which `RTT` scaling has no effect, seconds.
const REFERENCE_RTT: f64 = 0.1;

/// Bounds of the RTT over the reference (`tcp_htcp.c`: the inverse between 0.5 and 10).
const RTT_SCALE: (f64, f64) = (0.1, 2.0);

/// The parameters of H-TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct HtcpConfig {
    /// Δ_L: time after a loss during which the window grows as in standard TCP.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub delta_l: Duration,
    /// Δ_B: relative change of the throughput above which the next decrease is the largest.
    #[cfg_attr(feature = "declare", schemars(range(min = 0.0)))]
    pub delta_b: f64,
    /// Smallest share of the window that remains after a loss.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1, "x-at-most" = "beta_max")))]
    pub beta_min: f64,
    /// Largest share of the window that remains after a loss; at least `beta_min`.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub beta_max: f64,
    /// Grow in proportion to the shortest RTT.
    pub rtt_scaling: bool,
}

impl Default for HtcpConfig {
    /// Returns the values of draft-leith-tcp-htcp-06 and Linux.
    fn default() -> Self {
        Self {
            delta_l: Duration::from_secs(1),
            delta_b: 0.2,
            beta_min: 0.5,
            beta_max: 0.8,
            rtt_scaling: true,
        }
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for HtcpConfig {
    const ID: &'static str = "htcp";
    type Rule = Htcp;

    fn rule(&self) -> Result<Htcp, ConfigError> {
        Htcp::new(*self)
    }
}

/// H-TCP (Leith and Shorten, draft-leith-tcp-htcp-06). Each window of acknowledged segments adds α segments;
/// with Δ the time since the last signal, in seconds,
///
/// `α = 2 (1 - β) f`, `f = 1` up to `Δ_L`, `f = 1 + 10 (Δ - Δ_L) + ((Δ - Δ_L) / 2)^2` after it,
///
/// and with RTT scaling f times `RTT_min / 100 ms` (between 0.1 and 2), but at least 1. A signal keeps the
/// share β:
///
/// `β = RTT_min / RTT_max` between `beta_min` and `beta_max`: the queue drains and the link stays busy;
/// `β = beta_min` if the highest throughput since the last signal differs by more than `Δ_B` of itself from
/// that before it, and at the signal after such a change.
///
/// As in Linux: Δ counts from the end of recovery. `RTT_max` is the largest smoothed RTT, starting three
/// round trips after a signal; 5 % of its excess over `RTT_min` are dropped at each signal. The throughput of
/// a round trip is smoothed with 3/4 and 1/4, starting three round trips after a signal.
///
/// Telemetry: `beta` at each signal.
#[derive(Clone, Debug)]
pub struct Htcp {
    config: HtcpConfig,
    /// β.
    beta: f64,
    /// Whether the throughput was steady at the last signal.
    adaptive: bool,
    /// The start of Δ; `None` before the first acknowledgment.
    last_congestion: Option<Timestamp>,
    /// Zero if unknown.
    rtt_max: Duration,
    throughput: Throughput,
    whole_bytes: WholeBytes,
}

impl Htcp {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`HtcpConfig`].
    pub fn new(config: HtcpConfig) -> Result<Self, ConfigError> {
        let HtcpConfig { delta_l, delta_b, beta_min, beta_max, .. } = config;
        check(!delta_l.is_zero(), "delta_l", "above zero (seconds)", delta_l.as_secs_f64())?;
        check(delta_b >= 0.0 && delta_b.is_finite(), "delta_b", "at least 0 and finite", delta_b)?;
        check(beta_max > 0.0 && beta_max < 1.0, "beta_max", "between 0 and 1, both excluded", beta_max)?;
        let least = beta_min > 0.0 && beta_min <= beta_max;
        check(least, "beta_min", "above 0 and at most beta_max", beta_min)?;
        Ok(Self {
            config,
            beta: beta_min,
            adaptive: false,
            last_congestion: None,
            rtt_max: Duration::ZERO,
            throughput: Throughput::default(),
            whole_bytes: WholeBytes::default(),
        })
    }

    /// Returns α, in segments for each window of acknowledged segments.
    fn alpha(&self, since_congestion: Duration, rtt_min: Duration) -> f64 {
        let above = (since_congestion - self.config.delta_l).as_secs_f64();
        let mut factor = 1.0 + 10.0 * above + (above / 2.0) * (above / 2.0);
        if self.config.rtt_scaling && !rtt_min.is_zero() {
            let (least, most) = RTT_SCALE;
            factor = (factor * (rtt_min.as_secs_f64() / REFERENCE_RTT).clamp(least, most)).max(1.0);
        }
        2.0 * (1.0 - self.beta) * factor
    }

    /// Computes β for a signal.
    fn adapt(&mut self, rtt_min: Duration) {
        let steady = self.throughput.steady(self.config.delta_b);
        self.beta = if steady && self.adaptive && !self.rtt_max.is_zero() {
            let ratio = rtt_min.as_secs_f64() / self.rtt_max.as_secs_f64();
            ratio.clamp(self.config.beta_min, self.config.beta_max)
        } else {
            self.config.beta_min
        };
        self.adaptive = steady;
        if self.rtt_max > rtt_min {
            self.rtt_max = rtt_min + (self.rtt_max - rtt_min).mul_f64(FADING);
        }
    }
}

impl WindowRule for Htcp {
    fn on_ack(&mut self, _window: Bytes, event: &AckEvent, _probe: &mut dyn Probe) {
        let since = *self.last_congestion.get_or_insert(event.now);
        if event.in_recovery {
            self.last_congestion = Some(event.now);
            self.throughput.interrupt();
            return;
        }
        let settled = event.now.since(since) > event.rtt.minimum * SETTLING_ROUNDS;
        self.throughput.acknowledged(event, settled);
        if settled {
            self.rtt_max = self.rtt_max.max(event.rtt.smoothed);
        }
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let since = self.last_congestion.map_or(Duration::ZERO, |last| event.now.since(last));
        let alpha = self.alpha(since, event.rtt.minimum);
        let windows = event.acked.as_f64() / window.as_f64();
        window + self.whole_bytes.pay(alpha * windows * event.mss.as_f64())
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        self.adapt(event.rtt.minimum);
        self.throughput.signal();
        self.last_congestion = Some(event.now);
        self.whole_bytes = WholeBytes::default();
        probe.record(event.now, Measurement::Named("beta", self.beta));
        window.mul_f64(self.beta)
    }
}

#[cfg(test)]
mod tests;
