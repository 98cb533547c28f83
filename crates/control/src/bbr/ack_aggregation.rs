//! `extra_acked`: the amount acknowledged at once in excess of the expected amount.

use airpath_model::{Bytes, Rate, Timestamp};

use super::ack_epoch::AckEpoch;
use crate::windowed_extremum::WindowedMaximum;

/// `ExtraAckedFilterLen`, in rounds (section 2.11); one round during startup.
const ROUNDS: u64 = 10;

/// The degree of aggregation on the path (section 5.5.9).
#[derive(Clone, Copy, Debug)]
pub(super) struct AckAggregation {
    epoch: AckEpoch,
    filter: WindowedMaximum<Bytes>,
}

impl AckAggregation {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { epoch: AckEpoch::new(now), filter: WindowedMaximum::default() }
    }

    /// Implements `UpdateACKAggregation` for `acked` bytes that arrived at `now`, if `bandwidth` is the
    /// expected rate. `startup` is true until the path has been filled.
    pub(super) fn update(
        &mut self,
        now: Timestamp,
        acked: Bytes,
        bandwidth: Rate,
        window: Bytes,
        round: u64,
        startup: bool,
    ) {
        let extra = self.epoch.excess(now, acked, bandwidth).min(window);
        self.filter.update(if startup { 1 } else { ROUNDS }, round, extra);
    }

    /// Restarts the measurement after the flow was idle.
    pub(super) fn on_restart_from_idle(&mut self, now: Timestamp) {
        self.epoch.restart_clock(now);
    }

    /// Returns `extra_acked`.
    pub(super) fn extra(&self) -> Bytes {
        self.filter.get().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Duration;

    use super::*;

    #[test]
    fn acknowledged_data_beyond_the_bandwidth_counts_as_burst() {
        let (mut aggregation, rate) = (AckAggregation::new(Timestamp::ZERO), Rate::from_bps(8_000_000));
        let mut ack = |ms, bytes| {
            let now = Timestamp::ZERO + Duration::from_millis(ms);
            aggregation.update(now, Bytes::new(bytes), rate, Bytes::new(20_000), 1, false);
            aggregation.extra().get()
        };
        // One packet of 1000 bytes per millisecond is expected: each acknowledgment is one packet ahead.
        assert_eq!(ack(1, 1000), 1000);
        assert_eq!(ack(2, 1000), 1000);
        // No acknowledgment for 10 ms, then 10 packets at once. The interval restarts, so none of them is
        // expected.
        assert_eq!(ack(12, 10_000), 10_000);
        // 8 more packets 4 ms later: 18 000 minus the 4000 expected.
        assert_eq!(ack(16, 8000), 14_000);
        assert_eq!(ack(17, 30_000), 20_000, "never more than the window");
    }

    /// `HandleRestartFromIdle`: no delivery is expected in an idle period. The packet that is sent at 100 ms
    /// is acknowledged at 110 ms, with 20 packets more than the 10 expected from the bandwidth.
    #[test]
    fn idle_time_does_not_count_as_delivery_time() {
        let (mut aggregation, rate) = (AckAggregation::new(Timestamp::ZERO), Rate::from_bps(8_000_000));
        let at = |ms| Timestamp::ZERO + Duration::from_millis(ms);
        let window = Bytes::new(1_000_000);
        aggregation.update(at(1), Bytes::new(20_000), rate, window, 1, true);
        aggregation.on_restart_from_idle(at(100));
        aggregation.update(at(110), Bytes::new(30_000), rate, window, 3, true);
        assert_eq!(aggregation.extra().get(), 20_000 + 30_000 - 10_000);
    }

    #[test]
    fn a_burst_is_remembered_for_ten_rounds() {
        let (mut aggregation, rate) = (AckAggregation::new(Timestamp::ZERO), Rate::from_bps(8_000_000));
        let mut extra = |round: u64, bytes| {
            let now = Timestamp::ZERO + Duration::from_secs(round);
            aggregation.update(now, Bytes::new(bytes), rate, Bytes::new(20_000), round, false);
            aggregation.extra().get()
        };
        assert_eq!(extra(1, 10_000), 10_000);
        assert!((2..=11).all(|round| extra(round, 1000) == 10_000));
        assert_eq!(extra(12, 1000), 1000);
    }
}
