//! Startup and the drain after it.

use airpath_model::{AckEvent, RateSample, Timestamp};

use super::Bbr;
use super::losses::Probed;
use super::state::State;

/// `StartupFullLossCnt`: the minimum number of discontiguous losses in a round that ends startup (section
/// 5.3.1.3).
const FULL_LOSSES: u32 = 6;

/// Number of rounds after which the drain ends in any case (section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;

impl Bbr {
    /// Implements `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, event: &AckEvent, sample: Option<&RateSample>) {
        self.check_startup_high_loss(event, sample);
        if self.state == State::Startup && self.full_pipe.reached {
            self.enter(State::Drain);
            self.drain_start_round = self.rounds.count;
        }
    }

    /// Implements `CheckStartupHighLoss`.
    fn check_startup_high_loss(&mut self, event: &AckEvent, sample: Option<&RateSample>) {
        if self.full_pipe.reached || !self.short_term.loss_round_start {
            return;
        }
        let Some(sample) = sample else { return };
        if event.in_recovery
            && self.short_term.loss_events >= FULL_LOSSES
            && self.is_inflight_too_high(sample.lost, event.in_flight_at_send)
        {
            self.undo.probed = Some(Probed::Startup);
            self.full_pipe.reached = true;
            self.long_term.inflight = self.bdp().max(self.short_term.inflight_latest);
        }
    }

    /// Implements `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, now: Timestamp) {
        if self.state == State::Drain
            && (self.in_flight <= self.inflight(self.bandwidth, 1.0)
                || self.rounds.count > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_probe_down(now);
        }
    }
}
