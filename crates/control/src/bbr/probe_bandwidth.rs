//! `ProbeBW`: the cycle of sending below, at, and above the estimated bandwidth (section 5.3.3).

use airpath_model::{AckEvent, Duration, Rate, RateSample, Timestamp};

use super::Bbr;
use super::state::State;

/// Number of rounds after which BBR probes for bandwidth in any case, so that Reno flows get their share
/// (5.3.3.8.2).
const RENO_ROUNDS: u64 = 63;

/// `ack_phase`: the phase of a probe to which arriving acknowledgments belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// No probe.
    #[default]
    Init,
    /// The path is being refilled.
    Refilling,
    /// The first packets of the probe are in flight.
    ProbeStarting,
    /// The first packets of the probe are being acknowledged.
    ProbeFeedback,
    /// The probe is over; its last packets are being acknowledged.
    ProbeStopping,
}

/// State of the cycle, and results of the last probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeCycle {
    pub(super) ack_phase: AckPhase,
    /// `cycle_stamp`: the start of `ProbeDown`.
    stamp: Timestamp,
    /// `bw_probe_wait`.
    wait: Duration,
    /// `rounds_since_probe_up`.
    rounds: u64,
    /// `is_bw_probe_sample`: whether losses count as those of a probe.
    pub(super) is_probe_sample: bool,
    /// `prev_probe_too_high`: whether the last probe caused too many losses.
    pub(super) too_high: bool,
    /// `prev_probe_precautionary`: whether the last probe ended early as a precaution.
    precautionary: bool,
}

impl ProbeCycle {
    pub(super) fn count_round(&mut self) {
        self.rounds += 1;
    }
}

impl Bbr {
    /// Implements `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bandwidth(&mut self, event: &AckEvent, sample: Option<&RateSample>) {
        if !self.full_pipe.reached || self.adapt_long_term_model(event, sample) {
            return;
        }
        match self.state {
            State::ProbeDown => {
                if !self.refill_when_due(event.now) && self.is_time_to_cruise() {
                    self.enter(State::ProbeCruise);
                }
            }
            State::ProbeCruise => {
                self.refill_when_due(event.now);
            }
            State::ProbeRefill => {
                if self.rounds.started {
                    self.cycle.is_probe_sample = true;
                    self.start_probe_up(sample);
                }
            }
            State::ProbeUp => {
                if self.is_time_to_go_down(event, sample) {
                    self.cycle.too_high = false;
                    self.start_probe_down(event.now);
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// Implements `StartProbeBW_DOWN`.
    pub(super) fn start_probe_down(&mut self, now: Timestamp) {
        self.short_term.reset_signals();
        self.long_term.stop_growth();
        self.pick_probe_wait();
        self.cycle.stamp = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(self.delivered);
        self.enter(State::ProbeDown);
    }

    /// Implements `StartProbeBW_REFILL`.
    pub(super) fn start_probe_refill(&mut self) {
        self.short_term.reset_model();
        self.long_term.restart_growth();
        self.cycle.precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.restart(self.delivered);
        self.enter(State::ProbeRefill);
    }

    /// Implements `StartProbeBW_UP`.
    pub(super) fn start_probe_up(&mut self, sample: Option<&RateSample>) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(self.delivered);
        self.full_pipe.restart(rate(sample));
        self.enter(State::ProbeUp);
        self.long_term.raise_slope(self.window, self.mss);
    }

    /// Implements `PickProbeWait`: a random wait of 2 s to 3 s, and a random offset of up to one round.
    fn pick_probe_wait(&mut self) {
        self.cycle.rounds = u64::from(self.random.chance(0.5));
        self.cycle.wait = self.random.uniform_duration(Duration::from_secs(2), Duration::from_secs(3));
    }

    /// Implements `IsTimeToProbeBW`, including the first step of the probe.
    fn refill_when_due(&mut self, now: Timestamp) -> bool {
        let due = now > self.cycle.stamp + self.cycle.wait || self.is_reno_coexistence_time();
        if due {
            self.start_probe_refill();
        }
        due
    }

    /// Implements `IsRenoCoexistenceProbeTime`: returns whether as many rounds have passed as Reno needs to
    /// grow by the amount in flight.
    fn is_reno_coexistence_time(&self) -> bool {
        let reno_rounds = self.target_inflight().get() / self.mss.get();
        self.cycle.rounds >= reno_rounds.min(RENO_ROUNDS)
    }

    /// Implements `IsTimeToCruise`: returns whether the queue is empty and there is headroom.
    fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.long_term.with_headroom(self.config.headroom, self.mss)
            && self.in_flight <= self.inflight(self.max_bw.maximum(), 1.0)
    }

    /// Implements `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, event: &AckEvent, sample: Option<&RateSample>) -> bool {
        let limit = self.long_term.inflight;
        // As in Linux, the limit is reached if the data in flight before this acknowledgment left no room for
        // another packet: after the acknowledgment the data in flight is never at a limit of the window, and
        // whole packets do not fit a limit in bytes exactly.
        let reached = event.in_flight_before + self.mss > limit;
        if self.cycle.too_high && reached {
            self.cycle.precautionary = true;
            return true;
        }
        if event.window_limited && self.window >= limit {
            // The limit, not the path, restricts the rate.
            self.full_pipe.restart(rate(sample));
            return false;
        }
        self.full_pipe.now
    }

    /// Implements `AdaptLongTermModel`. Returns whether it decided on the next state.
    fn adapt_long_term_model(&mut self, event: &AckEvent, sample: Option<&RateSample>) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.rounds.started {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && self.rounds.started {
            self.cycle.is_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bandwidth() {
                if sample.is_some_and(|sample| !sample.app_limited) {
                    self.max_bw.advance();
                }
                if self.cycle.precautionary && !self.cycle.too_high {
                    self.start_probe_refill();
                    return true;
                }
            }
        }
        let lost = sample.map(|sample| sample.lost).unwrap_or_default();
        if !self.is_probe_too_high(lost, event.in_flight_at_send) {
            self.raise_long_term_model(event);
        }
        false
    }

    /// Raises the long-term limit to an amount in flight whose loss rate was tolerable.
    pub(super) fn raise_long_term_model(&mut self, event: &AckEvent) {
        if self.long_term.inflight == airpath_model::Bytes::MAX {
            return;
        }
        self.long_term.inflight = self.long_term.inflight.max(event.in_flight_at_send);
        // `ProbeInflightLongtermUpward`: only a limit that is in use is raised.
        if self.state == State::ProbeUp && event.window_limited && self.window >= self.long_term.inflight {
            self.long_term.grow(event.acked, self.mss);
            if self.rounds.started {
                self.long_term.raise_slope(self.window, self.mss);
            }
        }
    }
}

/// Returns the rate of `sample`, or zero without a sample.
fn rate(sample: Option<&RateSample>) -> Rate {
    sample.map_or(Rate::ZERO, RateSample::rate)
}
