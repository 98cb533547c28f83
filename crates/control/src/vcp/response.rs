//! Common parts of senders that follow a load factor: the window, its response to a load and to a loss, and
//! its pacing.

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Duration, Pacing, Rate, Requirements,
};

use super::overload::{AfterFreeze, Overload, Region, VcpFreeze};
use super::scaling::{AdditiveScaling, RttScaling, Scaling, VcpBounds};
use crate::ConfigError;
use crate::windowed::QUANTUM_SEGMENTS;
use airpath_model::config::check;

/// Windows of 2 to 64 packets may be paced over the round trip.
const PACED_WINDOWS: core::ops::RangeInclusive<f64> = 2.0..=64.0;

/// Parameters that the senders of VCP and MPCP share (Xia et al., SIGCOMM'05, Table 2).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "declare",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(default)
)]
pub struct LoadResponseConfig {
    /// t_rho: interval at which routers compute the load factor, and for which senders freeze after an
    /// overload (Xia et al. 2005: 200 ms).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub load_factor_interval: Duration,
    /// Round-trip time that scales increases: the observed `minimum`, the `smoothed` one (the queue then
    /// increases its own growth), or none: `unscaled` increases are per round trip.
    pub rtt_scaling: RttScaling,
    /// Dependence of the additive increase on the RTT: its `square` (the same rates for all), in proportion
    /// (`linear`), or none (`none`).
    pub additive_scaling: AdditiveScaling,
    /// Reference RTT of the additive increase: `spec` (t_rho) or `author` (the authors' code: 100 ms).
    pub bounds: VcpBounds,
    /// Stop scaling at 500 ms, as the authors' code does.
    pub rtt_cap: bool,
    /// Changes that an overload freezes for t_rho: `all` changes of the window (the paper), or further
    /// decreases only (the authors' code).
    pub freeze: VcpFreeze,
    /// Effect of an overload in the RTT of additive increase after the freeze: none (`author`, the authors'
    /// code), a further decrease if it does not exceed the increase (`guarded`, ours), or always a decrease
    /// (`obey`: codes apply as soon as the freeze ends).
    pub after_freeze: AfterFreeze,
    /// alpha: additive increase in packets per t_rho (Xia et al. 2005: 1).
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0)))]
    pub alpha: f64,
    /// Share of the window that remains after a loss: a half as in Reno, or that of an overload, 0.875, if a
    /// loss counts as one.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub loss_factor: f64,
    /// Pace small windows over the round trip, as in the authors' code.
    pub pace_small_windows: bool,
}

impl Default for LoadResponseConfig {
    fn default() -> Self {
        Self {
            load_factor_interval: Duration::from_millis(200),
            rtt_scaling: RttScaling::default(),
            additive_scaling: AdditiveScaling::default(),
            bounds: VcpBounds::default(),
            rtt_cap: true,
            freeze: VcpFreeze::default(),
            after_freeze: AfterFreeze::default(),
            alpha: 1.0,
            loss_factor: 0.5,
            pace_small_windows: true,
        }
    }
}

/// The window of a sender that follows the load of its path.
///
/// Increases are per acknowledged packet: `ξ_s` for MI, `α_s` / window for AI, so that a round trip
/// multiplies the window by 1 + `ξ_s` or adds `α_s` packets. The window does not grow while it is not used;
/// in loss recovery it does not change. There is no slow start (SIGCOMM'05, section 3;
/// docs/reference/schemes/vcp.md).
#[derive(Clone, Debug)]
pub(crate) struct LoadResponse {
    scaling: Scaling,
    overload: Overload,
    alpha: f64,
    interval: Duration,
    loss_factor: f64,
    pace_small_windows: bool,
    /// In packets of `mss`; at least 1.
    window: f64,
    mss: Bytes,
    smoothed_rtt: Duration,
    /// The window before the last signal, kept in case the signal is spurious.
    before_signal: Option<f64>,
}

impl LoadResponse {
    /// Creates the window with `initial_window` (bytes of payload, at least one packet of `mss`).
    pub(crate) fn new(
        config: LoadResponseConfig,
        initial_window: Bytes,
        mss: Bytes,
    ) -> Result<Self, ConfigError> {
        let LoadResponseConfig {
            load_factor_interval: interval,
            rtt_scaling,
            additive_scaling,
            bounds,
            rtt_cap,
            freeze,
            after_freeze,
            alpha,
            loss_factor,
            pace_small_windows,
        } = config;
        check(alpha > 0.0 && alpha.is_finite(), "alpha", "greater than 0 and finite", alpha)?;
        check(!interval.is_zero(), "load_factor_interval", "greater than zero", 0.0)?;
        check(
            loss_factor > 0.0 && loss_factor < 1.0,
            "loss_factor",
            "greater than 0 and less than 1",
            loss_factor,
        )?;
        check(!mss.is_zero(), "mss", "at least one byte", mss.as_f64())?;
        check(initial_window >= mss, "initial_window", "at least one segment", initial_window.as_f64())?;
        Ok(Self {
            scaling: Scaling::new(rtt_scaling, additive_scaling, bounds, rtt_cap, interval),
            overload: Overload::new(freeze, after_freeze, interval),
            alpha,
            interval,
            loss_factor,
            pace_small_windows,
            window: initial_window.as_f64() / mss.as_f64(),
            mss,
            smoothed_rtt: Duration::ZERO,
            before_signal: None,
        })
    }

    /// Returns the features that the driver must supply.
    pub(crate) fn requirements(&self) -> Requirements {
        Requirements { pacing: self.pace_small_windows, path_feedback: true, ..Requirements::default() }
    }

    /// Processes an acknowledgment. `wish` is the change requested by its load or by the last known one, or
    /// `None` if no load is known: the window does not change.
    pub(crate) fn on_ack(&mut self, event: &AckEvent, wish: Option<Region>) {
        self.mss = event.mss;
        self.smoothed_rtt = event.rtt.smoothed;
        let Some(wish) = wish else { return };
        if event.in_recovery {
            return;
        }
        let packets =
            if event.window_limited { event.acked.as_f64() / event.mss.get().max(1) as f64 } else { 0.0 };
        // Whether a decrease exceeds the additive increase of a round trip.
        let (scaling, alpha, window) = (&self.scaling, self.alpha, self.window);
        let takes_more = |factor: f64| (1.0 - factor) * window > scaling.additive(alpha, &event.rtt);
        match self.overload.admit(event.now, event.rtt.smoothed, wish, takes_more) {
            Some(Region::Multiplicative(gain)) => {
                self.window += packets * self.scaling.multiplicative(gain, &event.rtt);
            }
            Some(Region::Additive) => {
                self.window += packets * self.scaling.additive(self.alpha, &event.rtt) / self.window;
            }
            Some(Region::Decrease(factor)) => self.window = (self.window * factor).max(1.0),
            None => {}
        }
    }

    /// Processes a congestion signal: a loss leaves a share of the window, a half as in Reno by default; a
    /// timeout leaves one packet. A CE mark counts as a loss.
    pub(crate) fn on_congestion(&mut self, event: &CongestionEvent) {
        self.mss = event.mss;
        let timeout = event.signal == CongestionSignal::Timeout;
        if !(timeout && event.consecutive > 1) {
            self.before_signal = Some(self.window);
        }
        self.window = if timeout { 1.0 } else { (self.window * self.loss_factor).max(1.0) };
    }

    /// Undoes the last signal, which was spurious.
    pub(crate) fn on_spurious(&mut self) {
        if let Some(before) = self.before_signal.take() {
            self.window = self.window.max(before);
        }
    }

    /// Returns window, pacing and burst limit.
    pub(crate) fn control(&self) -> Control {
        let window = Bytes::from_f64(self.window * self.mss.as_f64()).max(self.mss);
        match self.small_window_rate() {
            Some(rate) => Control { window, pacing: Pacing::At(rate), quantum: self.mss },
            None => Control { window, pacing: Pacing::FromWindow, quantum: self.mss * QUANTUM_SEGMENTS },
        }
    }

    /// Returns the pacing rate of a small window on a long path: 2^⌈log₂ window⌉ packets per round trip, if
    /// that spaces them by more than `t_ρ` / 2, so that a burst does not count as the load of an interval. If
    /// the spacing were the round trip divided by the window itself, the window would be full only at the
    /// very end of the round trip, and would not grow.
    fn small_window_rate(&self) -> Option<Rate> {
        if !self.pace_small_windows || !PACED_WINDOWS.contains(&self.window) {
            return None;
        }
        // At most 64, so that the float is exact.
        let packets = (libm::ceil(self.window) as u64).next_power_of_two();
        let spacing = self.smoothed_rtt / packets;
        (spacing * 2 > self.interval).then(|| Rate::over(self.mss, spacing))
    }
}

#[cfg(test)]
mod tests;
