//! `ProbeRTT`: a short period with four packets in flight, to measure the round-trip time without a queue.

use airpath_model::{RateSample, SendEvent, Timestamp};

use super::Bbr1;
use super::mode::Mode;
use crate::bbr::MIN_PIPE_SEGMENTS;

/// Progress of a probe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// The earliest end of the probe; `None` while too much is in flight.
    done_at: Option<Timestamp>,
    /// Whether a round has passed with little data in flight.
    round_done: bool,
}

impl Bbr1 {
    /// Begins a probe if the minimum has expired, and ends it after its time and a round.
    pub(super) fn check_probe_rtt(&mut self, now: Timestamp, sample: Option<&RateSample>) {
        if self.min_rtt.expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window();
            self.probe_rtt = ProbeRtt::default();
        }
        if self.mode == Mode::ProbeRtt {
            self.advance_probe_rtt(now);
        }
        self.idle_restart &= sample.is_none_or(|sample| sample.delivered.is_zero());
    }

    fn advance_probe_rtt(&mut self, now: Timestamp) {
        self.limited.mark(now, self.totals.delivered, self.in_flight);
        if self.probe_rtt.done_at.is_none() {
            if self.in_flight <= self.mss * MIN_PIPE_SEGMENTS {
                self.probe_rtt.done_at = Some(now + self.config.probe_rtt_duration);
                self.rounds.restart(self.totals.delivered);
            }
            return;
        }
        self.probe_rtt.round_done |= self.rounds.started;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(now);
        }
    }

    fn check_probe_rtt_done(&mut self, now: Timestamp) {
        if self.probe_rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.min_rtt.probed(now);
        self.restore_window();
        if self.full_pipe.reached {
            self.start_probing_bandwidth();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Prepares for data of an application that had nothing to send: probes for the round-trip time are not
    /// due, since the queue had time to drain, and the rate is that of the path.
    pub(super) fn restart_from_idle(&mut self, event: &SendEvent) {
        if !(event.app_limited || self.limited.covers(event.now)) {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(event.now);
        match self.mode {
            Mode::ProbeBandwidth(_) => self.set_pacing_rate(1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(event.now),
            Mode::Startup | Mode::Drain => {}
        }
    }
}
