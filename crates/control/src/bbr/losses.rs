//! The effect of losses on the limits and on the window in recovery, and how it is undone.

use airpath_model::{AckEvent, Bytes, CongestionEvent, Rate, RateSample, Timestamp};

use super::Bbr;
use super::state::State;

/// The state that the flow left because of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probed {
    Startup,
    Up,
}

/// State to restore if losses prove spurious (section 5.5.11.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// `undo_state`.
    pub(super) probed: Option<Probed>,
    bandwidth: Rate,
    inflight_short_term: Bytes,
    inflight_long_term: Bytes,
}

impl Bbr {
    /// Implements `IsInflightTooHigh`: returns whether the loss rate of the data in flight exceeds the
    /// threshold.
    pub(super) fn is_inflight_too_high(&self, lost: Bytes, tx_in_flight: Bytes) -> bool {
        lost.as_f64() > tx_in_flight.as_f64() * self.config.loss_threshold
    }

    /// Returns whether the amount in flight is too high for a probe, which also requires
    /// [`super::BbrConfig::probe_loss_events`] separate losses. If that parameter is one, the count is not
    /// checked, because the samples of the next round still contain the losses of this one.
    pub(super) fn is_probe_too_high(&self, lost: Bytes, tx_in_flight: Bytes) -> bool {
        let needed = self.config.probe_loss_events;
        let places = needed <= 1 || self.short_term.loss_events >= needed;
        places && self.is_inflight_too_high(lost, tx_in_flight)
    }

    /// Implements `HandleLostPacket` for all losses revealed by one acknowledgment, with the sample of the
    /// newest packet that it delivers.
    pub(super) fn on_losses(&mut self, event: &AckEvent, sample: Option<&RateSample>) {
        if event.newly_lost.is_zero() {
            return;
        }
        self.note_loss();
        if !self.cycle.is_probe_sample {
            return;
        }
        let lost = sample.map_or(event.newly_lost, |sample| sample.lost.max(event.newly_lost));
        if self.is_probe_too_high(lost, event.in_flight_at_send) {
            let tx_in_flight = self.inflight_at_loss(event.in_flight_at_send, lost, event.newly_lost);
            let app_limited = sample.is_some_and(|sample| sample.app_limited);
            self.handle_inflight_too_high(event.now, tx_in_flight, app_limited);
        }
    }

    /// Returns `InflightAtLoss`: the point in the newly lost data at which the threshold was crossed (section
    /// 5.5.10.2).
    fn inflight_at_loss(&self, tx_in_flight: Bytes, lost: Bytes, newly_lost: Bytes) -> Bytes {
        let threshold = self.config.loss_threshold.min(0.99);
        let inflight_before = (tx_in_flight - newly_lost).as_f64();
        let lost_before = (lost - newly_lost).as_f64();
        let lost_prefix = (threshold * inflight_before - lost_before) / (1.0 - threshold);
        Bytes::from_f64(inflight_before + lost_prefix)
    }

    /// Implements `HandleInflightTooHigh`.
    fn handle_inflight_too_high(&mut self, now: Timestamp, tx_in_flight: Bytes, app_limited: bool) {
        self.cycle.too_high = true;
        self.cycle.is_probe_sample = false;
        if !app_limited {
            let floor = self.target_inflight().mul_f64(self.config.beta);
            self.long_term.inflight = tx_in_flight.max(floor);
        }
        if self.state == State::ProbeUp {
            self.undo.probed = Some(Probed::Up);
            self.start_probe_down(now);
        }
    }

    /// Implements `NoteLoss`.
    fn note_loss(&mut self) {
        if self.short_term.note_loss(self.delivered) {
            self.save_state();
        }
    }

    /// Implements `SaveStateUponLoss`.
    fn save_state(&mut self) {
        self.save_window();
        self.undo = Undo {
            probed: None,
            bandwidth: self.short_term.bandwidth,
            inflight_short_term: self.short_term.inflight,
            inflight_long_term: self.long_term.inflight,
        };
    }

    /// Implements `OnEnterFastRecovery`.
    pub(super) fn enter_fast_recovery(&mut self) {
        self.save_state();
        self.in_recovery = true;
    }

    /// Implements `OnEnterRTO`: the window becomes one packet and grows from there. All outstanding data
    /// counts as lost.
    pub(super) fn on_timeout(&mut self, event: &CongestionEvent) {
        self.save_state();
        self.in_recovery = true;
        self.timeout_until = Some(self.delivered + event.lost);
        self.short_term.note_loss(self.delivered);
        if self.cycle.is_probe_sample && self.is_inflight_too_high(event.lost, event.flight_size) {
            let tx_in_flight = self.inflight_at_loss(event.flight_size, event.lost, event.lost);
            self.handle_inflight_too_high(event.now, tx_in_flight, false);
        }
        self.in_flight = Bytes::ZERO;
        self.window = self.mss.min(self.window);
    }

    /// Processes a mark, which counts as a round with too many losses (section 3.7 requires a response but
    /// does not define one).
    pub(super) fn on_echo(&mut self, now: Timestamp) {
        self.note_loss();
        if self.cycle.is_probe_sample {
            self.handle_inflight_too_high(now, self.in_flight, false);
        }
    }

    /// Detects the start of a recovery that no signal announced, and the end of every recovery, at which it
    /// restores the window (section 5.6.4.4).
    pub(super) fn follow_recovery(&mut self, fast_recovery: bool) {
        let repaired = self.timeout_until.is_none_or(|until| self.delivered >= until);
        if fast_recovery && !self.in_recovery {
            self.enter_fast_recovery();
        } else if self.in_recovery && !fast_recovery && repaired {
            self.leave_recovery();
        }
    }

    fn leave_recovery(&mut self) {
        self.in_recovery = false;
        self.timeout_until = None;
        self.restore_window();
    }

    /// Implements `HandleSpuriousLossDetection`.
    pub(super) fn undo_losses(&mut self) {
        self.leave_recovery();
        self.full_pipe.restart(Rate::ZERO);
        self.short_term.undo(self.undo.bandwidth, self.undo.inflight_short_term);
        self.long_term.inflight = self.long_term.inflight.max(self.undo.inflight_long_term);
        match self.undo.probed.take() {
            Some(Probed::Startup) if self.state != State::Startup => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.enter(State::Startup);
                }
            }
            Some(Probed::Up) if !matches!(self.state, State::ProbeUp | State::ProbeRtt) => {
                self.start_probe_refill();
            }
            _ => {}
        }
    }

    /// Implements `SaveCwnd`.
    pub(super) fn save_window(&mut self) {
        self.prior_window = if self.in_recovery || self.state == State::ProbeRtt {
            self.prior_window.max(self.window)
        } else {
            self.window
        };
    }

    /// Implements `RestoreCwnd`.
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::RandomStream;

    use super::super::BbrConfig;
    use super::*;

    const MSS: Bytes = Bytes::new(1000);

    fn bbr() -> Bbr {
        Bbr::new(BbrConfig::default(), RandomStream::new(1, "flow/test/controller"), MSS * 10, MSS).unwrap()
    }

    /// Four of 100 packets are lost now, and one was lost before. 2 % are crossed at x with (1 + x)/(96 + x)
    /// = 0.02.
    #[test]
    fn the_limit_is_the_flight_at_the_loss_threshold() {
        let at_loss = bbr().inflight_at_loss(MSS * 100, MSS * 5, MSS * 4).as_f64();
        assert!((at_loss - (96_000.0 + 920.0 / 0.98)).abs() <= 1.0, "{at_loss}");
    }

    #[test]
    fn a_probe_lowers_the_limit_once() {
        let mut bbr = bbr();
        bbr.cycle.is_probe_sample = true;
        bbr.on_echo(Timestamp::ZERO);
        assert!(!bbr.cycle.is_probe_sample);
    }

    /// `SaveCwnd`: in recovery and in `ProbeRTT` the window is only temporarily small.
    #[test]
    fn a_temporarily_small_window_is_not_restored() {
        for (in_recovery, state, kept) in
            [(false, State::ProbeCruise, 5), (true, State::ProbeCruise, 20), (false, State::ProbeRtt, 20)]
        {
            let mut bbr = bbr();
            (bbr.in_recovery, bbr.state) = (in_recovery, state);
            (bbr.prior_window, bbr.window) = (MSS * 20, MSS * 5);
            bbr.save_window();
            assert_eq!(bbr.prior_window, MSS * kept, "{in_recovery} {state:?}");
            bbr.window = MSS * 30;
            bbr.save_window();
            assert_eq!(bbr.prior_window, MSS * 30);
        }
    }

    /// The budget is three quanta of two packets.
    #[test]
    fn the_budget_is_at_least_three_quanta() {
        let mut bbr = bbr();
        bbr.state = State::ProbeCruise;
        bbr.set_pacing_rate(1.0);
        let quantum = bbr.quantum();
        assert_eq!(bbr.inflight(Rate::from_bps(8000), 1.0), quantum * 3);
        bbr.state = State::ProbeUp;
        assert_eq!(bbr.inflight(Rate::from_bps(8000), 1.0), quantum * 3 + MSS * 2);
    }
}
