//! Bursts of acknowledgments, which the window must cover.

use airpath_model::{Bytes, Rate, Timestamp};

use crate::bbr::ack_epoch::AckEpoch;

/// Rounds of each of the two windows of the maximum.
const ROUNDS: u32 = 5;

/// Packets of an interval beyond which it restarts, because its start may be long ago.
const LONGEST_EPOCH: u64 = 1 << 20;

/// The largest amount acknowledged in excess of the expected amount, over the current window of five rounds
/// and the one before (`extra_acked` in Linux).
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    epoch: AckEpoch,
    largest: [Bytes; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { epoch: AckEpoch::new(now), largest: [Bytes::ZERO; 2], current: 0, rounds: 0 }
    }

    /// Begins a round.
    pub(super) fn on_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= ROUNDS {
            self.rounds = 0;
            self.current = 1 - self.current;
            self.largest[self.current] = Bytes::ZERO;
        }
    }

    /// Adds `acked` bytes, acknowledged at `now`, of which a path with `bandwidth` would have delivered fewer.
    pub(super) fn update(
        &mut self,
        now: Timestamp,
        acked: Bytes,
        bandwidth: Rate,
        window: Bytes,
        mss: Bytes,
    ) {
        if self.epoch.acked() + acked >= mss * LONGEST_EPOCH {
            self.restart(now);
        }
        let extra = self.epoch.excess(now, acked, bandwidth).min(window);
        self.largest[self.current] = self.largest[self.current].max(extra);
    }

    /// Restarts the measurement after the flow was idle.
    pub(super) fn restart(&mut self, now: Timestamp) {
        self.epoch = AckEpoch::new(now);
    }

    /// Returns the largest excess.
    pub(super) fn extra(&self) -> Bytes {
        self.largest[0].max(self.largest[1])
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Duration;

    use super::*;

    const MSS: Bytes = Bytes::new(1000);
    /// One packet per millisecond.
    const BANDWIDTH: Rate = Rate::from_bps(8_000_000);

    fn ack(aggregation: &mut Aggregation, ms: u64, packets: u64) -> u64 {
        let now = Timestamp::ZERO + Duration::from_millis(ms);
        aggregation.update(now, MSS * packets, BANDWIDTH, MSS * 20, MSS);
        aggregation.extra().get() / MSS.get()
    }

    #[test]
    fn a_burst_is_the_data_beyond_the_bandwidth_and_at_most_the_window() {
        let mut aggregation = Aggregation::new(Timestamp::ZERO);
        assert_eq!(ack(&mut aggregation, 1, 1), 1);
        // The interval restarts after a pause. Four milliseconds later, 8 packets more than 4 expected.
        assert_eq!(ack(&mut aggregation, 12, 10), 10);
        assert_eq!(ack(&mut aggregation, 16, 8), 14);
        assert_eq!(ack(&mut aggregation, 17, 30), 20);
    }

    #[test]
    fn a_burst_is_remembered_for_five_to_ten_rounds() {
        // A burst in the first round of a window counts in that window and in the next, one in the last
        // round only in the next.
        for (rounds_before, remembered) in [(0, 9), (4, 5)] {
            let mut aggregation = Aggregation::new(Timestamp::ZERO);
            (0..5 + rounds_before).for_each(|_| aggregation.on_round());
            assert_eq!(ack(&mut aggregation, 0, 10), 10);
            let mut rounds = 0;
            while aggregation.extra() == MSS * 10 {
                aggregation.on_round();
                rounds += 1;
                ack(&mut aggregation, 1000 * rounds, 1);
            }
            assert_eq!(rounds, remembered + 1, "{rounds_before}");
        }
    }

    #[test]
    fn an_interval_has_fewer_than_two_to_the_power_of_twenty_packets() {
        let mut aggregation = Aggregation::new(Timestamp::ZERO);
        let window = MSS * (1 << 21);
        let mut ack = |packets: u64| {
            aggregation.update(Timestamp::ZERO, MSS * packets, BANDWIDTH, window, MSS);
            aggregation.epoch.acked().get() / MSS.get()
        };
        assert_eq!(ack((1 << 20) - 2), (1 << 20) - 2);
        assert_eq!(ack(1), (1 << 20) - 1);
        assert_eq!(ack(1), 1);
    }

    #[test]
    fn idle_time_and_the_data_before_it_do_not_count() {
        let mut aggregation = Aggregation::new(Timestamp::ZERO);
        ack(&mut aggregation, 1, 4);
        aggregation.restart(Timestamp::ZERO + Duration::from_millis(2));
        assert_eq!(ack(&mut aggregation, 2, 3), 4);
    }
}
