//! Window, pacing rate and quantum (section 5.6).

use airpath_model::{Bytes, Duration, Rate};

use super::state::State;
use super::{Bbr, MIN_PIPE_SEGMENTS};

/// `PacingMarginPercent`: the average pacing rate is below the estimated bandwidth by this share.
pub(crate) const PACING_MARGIN: f64 = 0.01;

/// The largest quantum, independent of the rate.
pub(crate) const LARGEST_QUANTUM: Bytes = Bytes::new(64 * 1024);

/// Number of quanta buffered by host and receiver (section 5.5.8.1).
pub(crate) const OFFLOAD_QUANTA: u64 = 3;

impl Bbr {
    /// Implements `InitPacingRate`: the initial window per round trip, or per millisecond if no round-trip
    /// time is known.
    pub(super) fn init_pacing_rate(&mut self, smoothed_rtt: Duration) {
        let rtt = if smoothed_rtt.is_zero() { Duration::from_millis(1) } else { smoothed_rtt };
        self.pacing_rate = Rate::over(self.initial_window, rtt).mul_f64(State::Startup.pacing_gain());
    }

    /// Implements `UpdateControlParameters`.
    pub(super) fn update_control(&mut self, acked: Bytes) {
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_window(acked);
    }

    /// Implements `SetPacingRateWithGain`: the rate decreases only after the path has been filled. It is
    /// never zero, because no packet would ever be sent at that rate.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.bandwidth.mul_f64(gain * (1.0 - PACING_MARGIN)).max(Rate::from_bps(1));
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Returns the quantum of `SetSendQuantum`: the data of one millisecond.
    pub(super) fn quantum(&self) -> Bytes {
        self.pacing_rate.bytes_in(Duration::from_millis(1)).min(LARGEST_QUANTUM).max(self.mss * 2)
    }

    /// Implements `SetCwnd`.
    fn set_window(&mut self, acked: Bytes) {
        let max_inflight = self.max_inflight();
        if self.full_pipe.reached {
            self.window = (self.window + acked).min(max_inflight);
        } else if self.window < max_inflight || self.delivered < self.initial_window {
            self.window += acked;
        }
        self.window = self.window.max(self.mss * MIN_PIPE_SEGMENTS);
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.window = self.window.min(self.model_bound());
    }

    /// Returns the bound on the window from recent losses (`BoundCwndForModel`).
    fn model_bound(&self) -> Bytes {
        let long_term = match self.state {
            State::ProbeCruise | State::ProbeRtt => {
                self.long_term.with_headroom(self.config.headroom, self.mss)
            }
            State::ProbeDown | State::ProbeRefill | State::ProbeUp => self.long_term.inflight,
            State::Startup | State::Drain => Bytes::MAX,
        };
        long_term.min(self.short_term.inflight).max(self.mss * MIN_PIPE_SEGMENTS)
    }

    /// Returns the largest amount in flight (`UpdateMaxInflight`).
    fn max_inflight(&self) -> Bytes {
        let inflight = self.bdp_multiple(self.bandwidth, self.state.cwnd_gain());
        self.quantization_budget(inflight + self.aggregation.extra())
    }

    /// Returns `BBR.bdp`.
    pub(super) fn bdp(&self) -> Bytes {
        self.bdp_multiple(self.bandwidth, 1.0)
    }

    /// Implements `BDPMultiple`.
    pub(super) fn bdp_multiple(&self, bandwidth: Rate, gain: f64) -> Bytes {
        match self.min_rtt.get() {
            Some(min_rtt) => bandwidth.bytes_in(min_rtt).mul_f64(gain),
            None => self.initial_window,
        }
    }

    /// Implements `Inflight`.
    pub(super) fn inflight(&self, bandwidth: Rate, gain: f64) -> Bytes {
        self.quantization_budget(self.bdp_multiple(bandwidth, gain))
    }

    /// Implements `TargetInflight`: the bandwidth-delay product, unless congestion reduced the window below
    /// it.
    pub(super) fn target_inflight(&self) -> Bytes {
        self.bdp().min(self.window)
    }

    /// Implements `QuantizationBudget`.
    fn quantization_budget(&self, inflight: Bytes) -> Bytes {
        let least = (self.quantum() * OFFLOAD_QUANTA).max(self.mss * MIN_PIPE_SEGMENTS);
        let extra = if self.state == State::ProbeUp { self.mss * 2 } else { Bytes::ZERO };
        inflight.max(least) + extra
    }
}
