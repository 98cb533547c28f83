//! BIC: a binary search for the window at the last loss.

use airpath_model::{AckEvent, Bytes, CongestionEvent, CongestionSignal, Measurement, Probe};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::whole_bytes::WholeBytes;
use crate::{ConfigError, WindowRule};
use airpath_model::config::check;

/// B: a step of the search covers 1/B of the remaining distance. The paper uses 2; Linux uses 4.
const B: u64 = 4;

/// Acknowledged segments per segment of growth, at most, while no loss has been observed: 5 % in a round
/// trip.
const COUNT_WITHOUT_LOSS: u64 = 20;

/// The parameters of BIC, as Linux names them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct BicConfig {
    /// Share of the window that remains after a loss (Linux: 819/1024; the paper removes 0.125).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub beta: f64,
    /// Largest growth per round trip, in segments (Linux 16; `S_max` of the paper 32).
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub max_increment: u64,
    /// Window in segments up to which Reno's rule applies.
    pub low_window: u64,
    /// Round trips for the last 4 segments below the maximum, and for the first 4 above it.
    #[cfg_attr(feature = "declare", schemars(range(min = 1)))]
    pub smooth_part: u64,
    /// Release bandwidth faster if the maximum decreases.
    pub fast_convergence: bool,
}

impl Default for BicConfig {
    /// Returns the parameters of Linux since 2.6.13.
    fn default() -> Self {
        Self {
            beta: 819.0 / 1024.0,
            max_increment: 16,
            low_window: 14,
            smooth_part: 20,
            fast_convergence: true,
        }
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for BicConfig {
    const ID: &'static str = "bic";
    type Rule = Bic;

    fn rule(&self) -> Result<Bic, ConfigError> {
        Bic::new(*self)
    }
}

/// BIC (Xu, Harfoush and Rhee, "Binary increase congestion control for fast long-distance networks", 2004),
/// as in Linux (`tcp_bic.c`). The window grows by one segment for each `cnt` acknowledged; with whole
/// segments and whole quotients,
///
/// - `cnt = cwnd` up to `low_window`;
/// - below `w_max`, with `dist = (w_max - cwnd) / B`: `cwnd / max_increment` if `dist > max_increment`,
///   `cwnd smooth_part / B` if `dist <= 1`, else `cwnd / dist`;
/// - from `w_max` on: `cwnd smooth_part / B` for the first B segments, `cwnd (B - 1) / (cwnd - w_max)` up to
///   `(B - 1) max_increment` above it, `cwnd / max_increment` after;
/// - at most 20 while no loss has been observed since the start or a timeout; at least 1.
///
/// A signal keeps `beta` of the window (half of it up to `low_window`); `w_max` becomes the window, or
/// `cwnd (1 + beta) / 2` if that was below the last `w_max`. A timeout resets `w_max`.
///
/// Differences from the kernel: this implementation counts acknowledged data instead of acknowledgments times
/// a moving average of the segments per acknowledgment, and updates `cnt` at every acknowledgment.
///
/// Telemetry: `w_max`, in segments, at each loss or CE echo.
#[derive(Clone, Debug)]
pub struct Bic {
    config: BicConfig,
    /// Whole segments; `None` before the first loss and after a timeout.
    w_max: Option<u64>,
    whole_bytes: WholeBytes,
}

impl Bic {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`BicConfig`].
    pub fn new(config: BicConfig) -> Result<Self, ConfigError> {
        let BicConfig { beta, max_increment, smooth_part, .. } = config;
        check(beta > 0.0 && beta < 1.0, "beta", "between 0 and 1, both excluded", beta)?;
        check(max_increment >= 1, "max_increment", "at least one segment", max_increment as f64)?;
        check(smooth_part >= 1, "smooth_part", "at least 1", smooth_part as f64)?;
        Ok(Self { config, w_max: None, whole_bytes: WholeBytes::default() })
    }

    /// Returns `cnt` at a window of `cwnd` segments.
    fn count(&self, cwnd: u64) -> u64 {
        let BicConfig { max_increment, low_window, smooth_part, .. } = self.config;
        if cwnd <= low_window {
            return cwnd.max(1);
        }
        let linear = cwnd / max_increment;
        let smooth = cwnd.saturating_mul(smooth_part) / B;
        let w_max = self.w_max.unwrap_or(0);
        let count = if cwnd < w_max {
            match (w_max - cwnd) / B {
                0 | 1 => smooth,
                dist if dist > max_increment => linear,
                dist => cwnd / dist,
            }
        } else {
            match cwnd - w_max {
                above if above < B => smooth,
                above if above < max_increment.saturating_mul(B - 1) => cwnd.saturating_mul(B - 1) / above,
                _ => linear,
            }
        };
        let most = if self.w_max.is_none() { COUNT_WITHOUT_LOSS } else { u64::MAX };
        count.clamp(1, most)
    }
}

impl WindowRule for Bic {
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let count = self.count(window.get() / event.mss.get().max(1));
        window + self.whole_bytes.pay(event.acked.as_f64() / count as f64)
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        let BicConfig { beta, low_window, fast_convergence, .. } = self.config;
        let cwnd = window.get() / event.mss.get().max(1);
        self.whole_bytes = WholeBytes::default();
        if event.signal == CongestionSignal::Timeout {
            self.w_max = None;
        } else {
            let released = fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
            let w_max = if released { (cwnd as f64 * (1.0 + beta) / 2.0) as u64 } else { cwnd };
            self.w_max = Some(w_max);
            probe.record(event.now, Measurement::Named("w_max", w_max as f64));
        }
        window.mul_f64(if cwnd <= low_window { 0.5 } else { beta })
    }
}

#[cfg(test)]
mod tests;
