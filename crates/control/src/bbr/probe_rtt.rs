//! `ProbeRTT`: a short period with little data in flight, to measure the round-trip time without a queue
//! (section 5.3.4).

use airpath_model::{AckEvent, Bytes, SendEvent, Timestamp};

use super::probe_bandwidth::AckPhase;
use super::state::State;
use super::{Bbr, MIN_PIPE_SEGMENTS};

/// Progress of a probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// `probe_rtt_done_stamp`: the earliest end of the probe; `None` while too much is in flight.
    done_at: Option<Timestamp>,
    /// `probe_rtt_round_done`: whether a round has passed with little data in flight.
    round_done: bool,
}

impl Bbr {
    /// Implements `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, event: &AckEvent) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.enter(State::ProbeRtt);
            self.save_window();
            self.probe_rtt = ProbeRtt::default();
            self.cycle.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(self.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(event.now);
        }
        self.idle_restart = false;
    }

    /// Implements `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, now: Timestamp) {
        self.limited.mark(now, self.delivered, self.in_flight);
        if self.probe_rtt.done_at.is_none() {
            if self.in_flight <= self.probe_rtt_window() {
                let done_at = Some(now + self.config.probe_rtt_duration);
                self.probe_rtt = ProbeRtt { done_at, round_done: false };
                self.rounds.restart(self.delivered);
            }
            return;
        }
        self.probe_rtt.round_done |= self.rounds.started;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(now);
        }
    }

    /// Implements `CheckProbeRTTDone`.
    fn check_probe_rtt_done(&mut self, now: Timestamp) {
        if self.probe_rtt.done_at.is_some_and(|done_at| now > done_at) {
            self.min_rtt.probed(now);
            self.restore_window();
            self.exit_probe_rtt(now);
        }
    }

    /// Implements `ExitProbeRTT`.
    fn exit_probe_rtt(&mut self, now: Timestamp) {
        self.short_term.reset_model();
        if self.full_pipe.reached {
            self.start_probe_down(now);
            self.enter(State::ProbeCruise);
        } else {
            self.enter(State::Startup);
        }
    }

    /// Returns `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_window(&self) -> Bytes {
        self.bdp_multiple(self.bandwidth, State::ProbeRtt.cwnd_gain()).max(self.mss * MIN_PIPE_SEGMENTS)
    }

    /// Implements `HandleRestartFromIdle`. Called when a packet is sent while nothing else is in flight
    /// (section 5.4.1).
    pub(super) fn restart_from_idle(&mut self, event: &SendEvent) {
        if !(event.app_limited || self.limited.covers(event.now)) {
            return;
        }
        self.idle_restart = true;
        self.aggregation.on_restart_from_idle(event.now);
        if self.state.is_probe_bandwidth() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(event.now);
        }
    }
}
