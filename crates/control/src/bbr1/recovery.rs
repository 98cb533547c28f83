//! The window during and after the repair of losses.

use airpath_model::{AckEvent, Bytes, CongestionEvent, Rate};

use super::Bbr1;
use super::mode::Mode;
use super::output::INITIAL_PACKETS;
use super::policer::Observation;
use crate::bbr::MIN_PIPE_SEGMENTS;

/// The repair of losses that is in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Repair {
    /// None.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until the data that was outstanding then is acknowledged.
    Loss,
}

/// State of the repair (`prev_ca_state`, `packet_conservation` and `prior_cwnd` in Linux).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    current: Repair,
    /// The repair at the last acknowledgment that set the window.
    applied: Repair,
    /// Whether as much is sent as is acknowledged: the first round of fast recovery.
    pub(super) conserving: bool,
    /// The window before the repair.
    saved: Bytes,
    /// Amount acknowledged cumulatively, and that which ends the repair after a timeout.
    acknowledged: Bytes,
    timeout_until: Bytes,
}

impl Bbr1 {
    /// Detects the start and the end of a repair. The transport does not signal a start in a window of data
    /// that already had a reduction.
    pub(super) fn follow_recovery(&mut self, event: &AckEvent) {
        let recovery = &mut self.recovery;
        recovery.acknowledged += event.advance;
        if recovery.current == Repair::Loss && recovery.acknowledged < recovery.timeout_until {
            return;
        }
        let before = recovery.current;
        recovery.current = if event.in_recovery { Repair::Recovery } else { Repair::Open };
        if recovery.current == Repair::Recovery && before != Repair::Recovery {
            self.save_window();
        }
    }

    /// Reduces the window to one packet, and treats the timeout as the end of a round with losses.
    pub(super) fn on_timeout(&mut self, event: &CongestionEvent) {
        self.save_window();
        let recovery = &mut self.recovery;
        (recovery.current, recovery.applied) = (Repair::Loss, Repair::Loss);
        // The flight size is at most the window, which earlier timeouts reduced to one packet.
        let outstanding = event.flight_size.max(event.lost);
        recovery.timeout_until = recovery.timeout_until.max(recovery.acknowledged + outstanding);
        self.totals.lost += event.lost;
        self.in_flight = Bytes::ZERO;
        self.window = self.mss;
        self.full_pipe.restart(Rate::ZERO);
        self.update_policer(Observation {
            totals: self.totals,
            round_started: true,
            losses: true,
            app_limited: false,
        });
    }

    /// Undoes the response to losses that did not occur.
    pub(super) fn undo_losses(&mut self) {
        self.full_pipe.restart(Rate::ZERO);
        self.policer.reset();
        self.restore_window();
        let recovery = &mut self.recovery;
        (recovery.current, recovery.applied, recovery.conserving) = (Repair::Open, Repair::Open, false);
    }

    /// Remembers the window before it shrinks temporarily. During a repair and in `ProbeRTT` it already has.
    pub(super) fn save_window(&mut self) {
        let temporary = self.recovery.applied != Repair::Open || self.mode == Mode::ProbeRtt;
        let before = if temporary { self.recovery.saved } else { Bytes::ZERO };
        self.recovery.saved = before.max(self.window);
    }

    /// Restores the window.
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.recovery.saved);
    }

    /// Sets the window. It follows the target, except in the first round of fast recovery.
    pub(super) fn set_window(&mut self, event: &AckEvent) {
        let floor = self.mss * MIN_PIPE_SEGMENTS;
        if !event.acked.is_zero() && !self.conserve(event) {
            let target = self.target_window();
            if self.full_pipe.reached {
                self.window = (self.window + event.acked).min(target);
            } else if self.window < target || self.totals.delivered < self.mss * INITIAL_PACKETS {
                self.window += event.acked;
            }
            self.window = self.window.max(floor);
        }
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(floor);
        }
    }

    /// Deducts losses from the window, and applies the start or the end of a repair. Returns whether packets
    /// are conserved.
    fn conserve(&mut self, event: &AckEvent) -> bool {
        let conserved = event.in_flight + event.acked;
        self.window = (self.window - event.newly_lost).max(self.mss);
        let (before, now) = (self.recovery.applied, self.recovery.current);
        self.recovery.applied = now;
        if now == Repair::Recovery && before != Repair::Recovery {
            self.recovery.conserving = true;
            self.rounds.restart(self.totals.delivered);
            self.window = conserved.max(self.mss);
        } else if now == Repair::Open && before != Repair::Open {
            self.restore_window();
            self.recovery.conserving = false;
        }
        if self.recovery.conserving {
            self.window = self.window.max(conserved);
        }
        self.recovery.conserving
    }
}
