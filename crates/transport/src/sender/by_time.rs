//! Loss detection by time, and the tail loss probe: RACK-TLP (RFC 8985).

use airpath_model::{Bytes, CongestionSignal, Controller, Duration, Probe, Timestamp};

use super::{Sender, State};
use crate::acknowledgment::Acknowledgment;
use crate::ledger::{DUPLICATE_THRESHOLD, Ledger, Record};
use crate::rack::Rack;
use crate::tail_loss_probe::TailLossProbe;

/// The state of a sender that detects losses by time.
#[derive(Debug, Default)]
pub(super) struct ByTime {
    pub(super) rack: Rack,
    pub(super) tail: TailLossProbe,
}

impl ByTime {
    /// Returns when to call [`Sender::on_late`] or [`Sender::on_probe_due`] next.
    pub(super) fn due(&self) -> Timestamp {
        self.rack.due().min(self.tail.due())
    }

    pub(super) fn on_delivered(&mut self, now: Timestamp, record: &Record, answers_latest: bool) {
        self.rack.on_delivered(now, record, answers_latest);
    }

    pub(super) fn on_ack(&mut self, repeated: bool, ledger: &Ledger) {
        self.rack.on_ack(repeated, ledger);
    }

    pub(super) fn on_repaired(&mut self) {
        self.rack.on_repaired();
    }

    pub(super) fn on_timeout(&mut self) {
        self.rack.on_timeout();
        self.tail.forget();
    }

    pub(super) fn on_recovery(&mut self) {
        self.tail.forget();
    }

    /// Returns whether to send a tail loss probe regardless of the window.
    pub(super) const fn wants_probe(&self) -> bool {
        self.tail.wanted()
    }

    /// Records that a probe is sent: a retransmission or new data. `sent` is the total sent afterwards.
    pub(super) fn on_probe(&mut self, again: bool, sent: u64, flight_size: Bytes) {
        self.tail.on_sent(again, sent, flight_size);
    }
}

impl<C: Controller + ?Sized> Sender<C> {
    /// Detects losses by RFC 8985, section 6.2, steps 4 and 5.
    pub(super) fn detect_losses_by_time(&mut self, now: Timestamp) -> Bytes {
        let suspicious = self.state != State::Open
            || self.duplicates as usize >= DUPLICATE_THRESHOLD
            || self.ledger.lost_by_sack(self.config.mss) > 0;
        let rtt = self.timer.rtt();
        let Self { by_time, ledger, .. } = self;
        by_time.as_mut().map_or(Bytes::ZERO, |by_time| by_time.rack.mark_lost(now, ledger, suspicious, rtt))
    }

    /// Handles the expiry of the reordering timer: an overtaken transmission has not arrived in time (RFC
    /// 8985, section 6.3).
    pub(super) fn on_late(&mut self, now: Timestamp, probe: &mut dyn Probe) {
        if self.by_time.as_ref().is_none_or(|by_time| by_time.rack.due() > now) {
            return;
        }
        let lost = self.detect_losses_by_time(now);
        self.rate.on_lost(lost);
        if let Some(by_time) = &mut self.by_time {
            by_time.rack.on_late(lost);
        }
        if self.state == State::Open && self.ledger.first_is_lost() {
            self.enter_recovery(now, lost, probe);
        }
    }

    /// Handles the expiry of the probe timer (section 7.3). The retransmission timer restarts, whether or not
    /// a probe is sent: a probe is due no later than that timer.
    pub(super) fn on_probe_due(&mut self, now: Timestamp) {
        if let Some(by_time) = &mut self.by_time
            && by_time.tail.due() <= now
        {
            by_time.tail.on_due();
            self.timer.restart(now);
        }
    }

    /// Schedules the next probe after all permitted data has been sent (section 7.2).
    pub(super) fn schedule_probe(&mut self, now: Timestamp) {
        let Some(by_time) = &mut self.by_time else { return };
        let ledger = &self.ledger;
        if self.state != State::Open || ledger.is_empty() || ledger.has_sacked() {
            return by_time.tail.cancel();
        }
        let so_far = (ledger.next(), ledger.acknowledged());
        let lone = ledger.segments() == 1;
        by_time.tail.schedule(now, so_far, lone, self.timer.rtt(), self.timer.deadline());
    }

    /// Reduces the window if the probe has repaired a loss (section 7.4.2).
    pub(super) fn judge_probe(
        &mut self,
        now: Timestamp,
        ack: &Acknowledgment,
        advance: u64,
        sample: Option<Duration>,
        probe: &mut dyn Probe,
    ) {
        let Some(by_time) = &mut self.by_time else { return };
        if sample.is_some() {
            by_time.tail.on_sample();
        }
        let bare = advance == 0 && ack.sack.is_empty();
        if let Some(flight_size) = by_time.tail.on_ack(ack.cumulative, ack.repeated, bare) {
            self.signal(now, CongestionSignal::Loss, flight_size, self.config.mss, probe);
        }
    }
}
