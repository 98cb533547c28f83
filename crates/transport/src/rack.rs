//! Loss detection by time: RACK (RFC 8985, section 6.2).

use airpath_model::{Bytes, Duration, RttEstimate, Timestamp};

use crate::ledger::{Ledger, Record};

/// The state of RACK: the latest delivery and the observed reordering.
///
/// A transmission is lost if a later one has been delivered and the transmission is overdue by more than the
/// reordering window. The window is a quarter of the smallest round-trip time. Until reordering is observed,
/// the window is zero once three segments' worth of data was delivered above a hole, and during recovery
/// (step 4). In each round trip with an unnecessary retransmission it grows by another quarter, up to a
/// smoothed round-trip time; after sixteen recoveries without one, it returns to one quarter.
///
/// Departure: each transmission becomes lost at its own time, instead of all at the time of the last (step
/// 5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// The number of the latest transmission that was certainly delivered (`RACK.segment`).
    newest: u64,
    /// The round-trip time of that transmission (`RACK.rtt`).
    rtt: Duration,
    /// The end of the highest delivered segment (`RACK.fack`).
    highest: u64,
    /// `highest` before the current acknowledgment.
    highest_before: u64,
    /// Whether an original arrived after a later transmission (`RACK.reordering_seen`).
    reordering_seen: bool,
    /// The window in quarters of the smallest round-trip time (`RACK.reo_wnd_mult`).
    quarters: u32,
    /// The number of recoveries until the window returns to one quarter (`RACK.reo_wnd_persist`).
    persists: u32,
    /// The window does not grow again until all data below this offset is acknowledged (`RACK.dsack_round`).
    grown_until: Option<u64>,
    /// The time at which the next transmission becomes overdue.
    due: Timestamp,
    /// The bytes found lost between acknowledgments, reported to the controller with the next one.
    untold: Bytes,
}

/// The number of recoveries for which a widened window persists.
const RECOVERIES: u32 = 16;

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest: 0,
            rtt: Duration::ZERO,
            highest: 0,
            highest_before: 0,
            reordering_seen: false,
            quarters: 1,
            persists: 0,
            grown_until: None,
            due: Timestamp::NEVER,
            untold: Bytes::ZERO,
        }
    }
}

impl Rack {
    /// Records the delivery of a segment. `answers_latest` is true if its latest transmission was delivered
    /// (steps 2 and 3).
    pub(crate) fn on_delivered(&mut self, now: Timestamp, record: &Record, answers_latest: bool) {
        if answers_latest && record.order > self.newest {
            self.newest = record.order;
            self.rtt = now.since(record.sent_at);
        }
        let end = record.sequence + u64::from(record.payload);
        self.highest = self.highest.max(end);
        self.reordering_seen |= end < self.highest_before && !record.retransmitted;
    }

    /// Adapts the window to an acknowledgment that may report an unnecessary retransmission (step 4).
    pub(crate) fn on_ack(&mut self, repeated: bool, ledger: &Ledger) {
        if self.grown_until.is_some_and(|until| ledger.acknowledged() >= until) {
            self.grown_until = None;
        }
        if repeated && self.grown_until.is_none() {
            self.grown_until = Some(ledger.next());
            self.quarters = self.quarters.saturating_add(1);
            self.persists = RECOVERIES;
        }
    }

    /// Counts a completed recovery.
    pub(crate) fn on_repaired(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.quarters = 1;
        }
    }

    /// Marks overdue segments as lost (step 5). Returns the bytes newly lost.
    ///
    /// `suspicious` is true during recovery, or if enough data was delivered above a hole.
    pub(crate) fn mark_lost(
        &mut self,
        now: Timestamp,
        ledger: &mut Ledger,
        suspicious: bool,
        rtt: RttEstimate,
    ) -> Bytes {
        self.highest_before = self.highest;
        let window = if suspicious && !self.reordering_seen {
            Duration::ZERO
        } else {
            (rtt.minimum / 4 * u64::from(self.quarters)).min(rtt.smoothed)
        };
        let (lost, due) = ledger.mark_lost_by_time(self.newest, now, self.rtt + window);
        self.due = due;
        lost
    }

    #[cfg(test)]
    pub(crate) const fn newest(&self) -> u64 {
        self.newest
    }

    /// Returns when to call [`Rack::mark_lost`] next if no acknowledgment arrives before.
    pub(crate) const fn due(&self) -> Timestamp {
        self.due
    }

    /// Counts losses that were detected by time, not by an acknowledgment.
    pub(crate) fn on_late(&mut self, lost: Bytes) {
        self.untold += lost;
    }

    /// Takes the bytes found lost since the previous acknowledgment.
    pub(crate) fn take_untold(&mut self) -> Bytes {
        core::mem::take(&mut self.untold)
    }

    /// Cancels the timer: the retransmission timer has marked everything as lost.
    pub(crate) fn on_timeout(&mut self) {
        self.due = Timestamp::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery_rate::SendState;

    const MSS: u64 = 100;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    fn sent(segments: u64) -> Ledger {
        let mut ledger = Ledger::default();
        (0..segments).for_each(|_| ledger.on_sent(at(0), MSS as u32, SendState::default()));
        ledger
    }

    /// Section 6.2, step 2: an acknowledgment that may belong to an earlier transmission is no evidence for
    /// the later one.
    #[test]
    fn an_ambiguous_acknowledgment_does_not_advance_the_newest_transmission() {
        let mut ledger = sent(3);
        ledger.on_retransmitted(at(50), 0, SendState::default());
        let again = *ledger.first().expect("three were sent");
        let mut rack = Rack::default();
        rack.on_delivered(at(51), &again, false);
        assert_eq!((rack.newest, rack.rtt), (0, Duration::ZERO));
        rack.on_delivered(at(150), &again, true);
        assert_eq!((rack.newest, rack.rtt), (4, Duration::from_millis(100)));
    }

    /// Step 4: at most a smoothed round-trip time.
    #[test]
    fn the_window_grows_up_to_the_smoothed_round_trip() {
        let mut rtt = RttEstimate::default();
        rtt.on_sample(Duration::from_millis(100), true);
        let mut rack = Rack { reordering_seen: true, newest: 9, ..Rack::default() };
        let mut widths = alloc::vec::Vec::new();
        for _ in 0..6 {
            rack.mark_lost(at(0), &mut sent(2), true, rtt);
            widths.push(rack.due());
            // In a different round trip each time.
            rack.on_ack(true, &Ledger::default());
        }
        assert_eq!(widths, [25, 50, 75, 100, 100, 100].map(at));
    }
}
