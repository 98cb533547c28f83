//! CUBIC: growth by the time since the last loss instead of by round trips.

mod epoch;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Measurement, Probe, SendEvent, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::RuleConfig;
use crate::whole_bytes::WholeBytes;
use crate::{ConfigError, WindowRule};
use airpath_model::config::check;
use epoch::Epoch;

/// The parameters of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(default))]
pub struct CubicConfig {
    /// The specification of the details: `rfc9438`, or `2008` (Ha, Rhee and Xu).
    pub form: CubicForm,
    /// C, in segments per second cubed (RFC 9438, section 5: 0.4).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub c: f64,
    /// Share of the window that remains after a loss (RFC 9438, section 4.6: 0.7).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub beta: f64,
    /// Release bandwidth faster if the saturation point decreases (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Grow at least as fast as Reno would (RFC 9438, section 4.3).
    pub reno_friendly: bool,
}

impl CubicConfig {
    /// RFC 9438: C = 0.4 (section 5.1), beta = 0.7 (section 4.6).
    pub const RFC9438: Self =
        Self { form: CubicForm::Rfc9438, c: 0.4, beta: 0.7, fast_convergence: true, reno_friendly: true };

    /// Ha, Rhee and Xu 2008 as in Linux 2.6.22: C = 0.4, keeping 0.8 (there 410/1024 and 819/1024).
    pub const LINUX2008: Self = Self { form: CubicForm::Linux2008, beta: 0.8, ..Self::RFC9438 };
}

impl Default for CubicConfig {
    fn default() -> Self {
        Self::RFC9438
    }
}

#[cfg(feature = "declare")]
impl RuleConfig for CubicConfig {
    const ID: &'static str = "cubic";
    const SLOW_START: &'static str = "hystart++";
    type Rule = Cubic;

    fn rule(&self) -> Result<Cubic, ConfigError> {
        Cubic::new(*self)
    }
}

/// The specification of the details of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum CubicForm {
    /// RFC 9438.
    #[cfg_attr(feature = "declare", serde(rename = "rfc9438"))]
    Rfc9438,
    /// Ha, Rhee and Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", 2008, as in Linux 2.6.22.
    #[cfg_attr(feature = "declare", serde(rename = "2008"))]
    Linux2008,
}

/// CUBIC. Windows in segments, times in seconds:
///
/// `W_cubic(t) = C (t - K)^3 + W_max`, `K = cbrt((W_max - cwnd_epoch) / C)` (RFC 9438, figures 1 and 2),
///
/// where t counts from the start of congestion avoidance and `cwnd_epoch` is the window then. If `W_max` is
/// unknown (slow start ended without a loss: section 4.10; after a timeout: section 4.8) or not above the
/// window, K = 0 and `W_max = cwnd_epoch`.
///
/// **RFC 9438.** For each acknowledged segment the window grows by `(target - cwnd) / cwnd` with
/// `target = W_cubic(t + SRTT)` clipped to `[cwnd, 1.5 cwnd]` (section 4.2). `W_est` starts at `cwnd_epoch`
/// and grows by `alpha / cwnd` for each acknowledged segment, with `alpha = 3 (1 - beta) / (1 + beta)` while
/// it is below `cwnd_prior`, the window at the last signal, and 1 from there on; if `W_cubic(t) < W_est`, the
/// window is `W_est` (section 4.3). A signal sets the threshold to `beta` times the data in flight (section
/// 4.6), and `W_max` to the window, or to `cwnd (1 + beta) / 2` if the window was below the last `W_max`
/// (section 4.7). Time during which the window was not used does not count in t (section 5.8).
///
/// **2008.** One segment for each `cnt` acknowledged: `cnt = cwnd / (W_cubic(t + RTT_min) - cwnd)` below the
/// curve and `100 cwnd` above; at least `cwnd / (160 RTT_min)`, that is 16 segments in 100 ms; 50 while no
/// loss has been observed since the start or a timeout; at most `cwnd / (W_tcp - cwnd)` if Reno's window
/// `W_tcp`, which grows by `3 (1 - beta) / (1 + beta) / cwnd` throughout, is larger; at least 1. Signals
/// reduce the window itself, not the data in flight, and t includes idle time. The following details are from
/// the paper, not from the kernel: real numbers instead of integers, an update at every acknowledgment,
/// acknowledged data counted instead of acknowledgments.
///
/// Telemetry: `w_max`, in segments, at each loss or CE echo.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    /// Segments; `None` before the first signal and after a timeout.
    w_max: Option<f64>,
    /// `cwnd_prior`, segments: the window at the last signal; zero before the first.
    prior: f64,
    epoch: Option<Epoch>,
    whole_bytes: WholeBytes,
}

impl Cubic {
    /// Creates the rule. Fails if a parameter is outside the range stated in [`CubicConfig`].
    pub fn new(config: CubicConfig) -> Result<Self, ConfigError> {
        let CubicConfig { c, beta, .. } = config;
        check(c > 0.0 && c.is_finite(), "c", "greater than 0 and finite", c)?;
        check(beta > 0.0 && beta < 1.0, "beta", "between 0 and 1, both excluded", beta)?;
        Ok(Self { config, w_max: None, prior: 0.0, epoch: None, whole_bytes: WholeBytes::default() })
    }

    /// Returns `W_max` in segments, or `None` before the first signal and after a timeout.
    pub(crate) const fn w_max(&self) -> Option<f64> {
        self.w_max
    }

    /// Sets `W_max`, in segments. The curve of the current epoch is recomputed with its original start.
    pub(crate) fn set_w_max(&mut self, w_max: f64) {
        self.w_max = Some(w_max);
        if let Some(epoch) = &mut self.epoch {
            epoch.redraw(w_max);
        }
    }

    /// Returns the growth in segments.
    fn growth(&mut self, cwnd: f64, acked: f64, event: &AckEvent) -> f64 {
        let Self { config, w_max, prior, epoch, .. } = self;
        let epoch = epoch.get_or_insert_with(|| Epoch::new(event.now, cwnd, *w_max, config.c));
        epoch.advance(event.now);
        match config.form {
            CubicForm::Rfc9438 => epoch.growth_rfc9438(config, *prior, cwnd, acked, event.rtt.smoothed),
            CubicForm::Linux2008 => {
                epoch.growth_linux2008(config, w_max.is_some(), cwnd, acked, event.rtt.minimum)
            }
        }
    }

    /// Excludes the time up to `now`, because the window was not used.
    fn skip_to(&mut self, now: Timestamp) {
        if let (CubicForm::Rfc9438, Some(epoch)) = (self.config.form, &mut self.epoch) {
            epoch.skip_to(now);
        }
    }
}

impl WindowRule for Cubic {
    fn on_sent(&mut self, event: &SendEvent) {
        let was_idle = event.in_flight <= event.payload;
        if was_idle {
            self.skip_to(event.now);
        }
    }

    fn on_ack(&mut self, _window: Bytes, event: &AckEvent, _probe: &mut dyn Probe) {
        if !event.window_limited {
            self.skip_to(event.now);
        }
    }

    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes {
        let mss = event.mss.as_f64();
        let growth = self.growth(window.as_f64() / mss, event.acked.as_f64() / mss, event);
        window + self.whole_bytes.pay(growth * mss)
    }

    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes {
        let CubicConfig { form, beta, fast_convergence, .. } = self.config;
        let cwnd = window.as_f64() / event.mss.as_f64();
        self.prior = cwnd;
        self.epoch = None;
        self.whole_bytes = WholeBytes::default();
        if event.signal == CongestionSignal::Timeout {
            self.w_max = None;
        } else {
            let released = fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
            let w_max = if released { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
            self.w_max = Some(w_max);
            probe.record(event.now, Measurement::Named("w_max", w_max));
        }
        let reduced = match form {
            CubicForm::Rfc9438 => event.flight_size,
            CubicForm::Linux2008 => window,
        };
        reduced.mul_f64(beta)
    }
}

#[cfg(test)]
mod tests;
