//! The limit that losses set to the target.

use airpath_model::AckEvent;

/// A period is evaluated after this many packets, but not before a round trip has passed.
const PERIOD_PACKETS: f64 = 50.0;

/// Losses in a period that indicate a short buffer: number of packets, and share.
const LOST_PACKETS: f64 = 3.0;
const LOST_SHARE: f64 = 0.05;

/// The share of the limit that remains, and the smallest limit in seconds.
const REMAINS: f64 = 0.8;
const SMALLEST: f64 = 0.004;

/// Growth of the limit: per second relative to itself, and seconds per second. Above `LARGEST` it is void.
const GROWTH: f64 = 0.3;
const STEP: f64 = 0.006;
const LARGEST: f64 = 0.2;

/// An upper limit for the target. Many losses with a long queue come from a short buffer and lower it;
/// random losses do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossLimit {
    /// Seconds; infinite if void.
    limit: f64,
    updated_at: f64,
    period_begin: f64,
    /// Packets delivered or lost, packets lost, and the longest queue at a loss, in this period.
    seen: f64,
    lost: f64,
    queue: f64,
}

impl Default for LossLimit {
    fn default() -> Self {
        let (updated_at, period_begin, seen, lost, queue) = (0.0, 0.0, 0.0, 0.0, 0.0);
        Self { limit: f64::INFINITY, updated_at, period_begin, seen, lost, queue }
    }
}

impl LossLimit {
    /// Returns the limit in seconds; infinite if there is none.
    pub(super) fn get(&self) -> f64 {
        self.limit
    }

    /// Adds an acknowledgment at `now`; times are in seconds.
    pub(super) fn update(&mut self, now: f64, round_trip: f64, event: &AckEvent, queue: f64, target: f64) {
        if self.limit.is_finite() {
            let grown = self.limit + (GROWTH * self.limit + STEP) * (now - self.updated_at);
            self.limit = if grown > LARGEST { f64::INFINITY } else { grown };
        }
        self.updated_at = now;
        let packet = event.mss.as_f64();
        let lost = event.newly_lost.as_f64() / packet;
        self.seen += event.acked.as_f64() / packet + lost;
        self.lost += lost;
        if lost > 0.0 {
            self.queue = self.queue.max(queue);
        }
        if self.seen < PERIOD_PACKETS || now - self.period_begin < round_trip {
            return;
        }
        let many = self.lost >= LOST_PACKETS && self.lost > LOST_SHARE * self.seen;
        if many && self.queue > target / 2.0 {
            self.limit = (REMAINS * self.limit.min(target)).max(SMALLEST);
        }
        (self.period_begin, self.seen, self.lost, self.queue) = (now, 0.0, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::{Bytes, Timestamp};

    use super::*;

    /// Returns the limit after 100 packets, `lost` of which are lost, with this queue and a target of 50 ms.
    fn after(lost: u64, queue: f64) -> LossLimit {
        let mut limit = LossLimit::default();
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.acked = event.mss * (100 - lost);
        event.newly_lost = event.mss * lost;
        limit.update(1.0, 0.1, &event, queue, 0.05);
        limit
    }

    #[test]
    fn only_many_losses_with_a_long_queue_limit_the_target() {
        assert!((after(6, 0.04).get() - 0.04).abs() < 1e-12);
        assert!(after(6, 0.02).get().is_infinite(), "random losses");
        assert!(after(5, 0.04).get().is_infinite(), "few losses");
    }

    #[test]
    fn the_limit_grows_until_it_is_void() {
        let mut limit = after(6, 0.04);
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.acked = Bytes::ZERO;
        limit.update(2.0, 0.1, &event, 0.0, 0.05);
        assert!((limit.get() - (0.04 * 1.3 + 0.006)).abs() < 1e-12);
        for second in 3..9 {
            limit.update(f64::from(second), 0.1, &event, 0.0, 0.05);
        }
        assert!(limit.get().is_infinite());
    }
}
