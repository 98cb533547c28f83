//! The queue that does not drain within a round trip.

use airpath_model::{Backlog, Bytes, Duration, Timestamp};

use crate::QueueSample;

/// Bound below which the persistent queue's timer never falls (ns-2.35 `xcp/xcpq.cc`, line 35).
const SHORTEST: Duration = Duration::from_millis(2);

/// Q of XCP: the shortest queue seen by departing packets over about a propagation delay.
///
/// A departing packet sees itself and what waits behind it (ns-2.35 `xcp/xcpq.cc`, line 32), and a link that finds
/// nothing to send sees an empty queue. So a link that is never idle has a persistent queue of one packet at least,
/// which keeps it a little below its capacity. In ns-2.35 the scheduler of virtual queues (`xcp/xcp.cc`) keeps an idle
/// link from being seen, which leaves up to a fifth of a packet less in the queue of a link that is nearly full.
///
/// It has a timer of its own, `T_q` = max(2 ms, (d − q/C) / 2), which must not be the control timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PersistentQueue {
    persistent: Bytes,
    running_minimum: Bytes,
    due: Timestamp,
    /// When the last packet arrived, if it found nothing waiting.
    found_nothing: Option<Timestamp>,
}

impl PersistentQueue {
    /// No queue so far; the first expiry comes after `interval`.
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            persistent: Bytes::ZERO,
            running_minimum: Bytes::ZERO,
            due: Timestamp::ZERO + interval.max(SHORTEST),
            found_nothing: None,
        }
    }

    /// Q, in bytes.
    pub(crate) fn bytes(&self) -> Bytes {
        self.persistent
    }

    /// When [`PersistentQueue::on_timer`] is wanted.
    pub(crate) fn due(&self) -> Timestamp {
        self.due
    }

    /// A packet arrives; `backlog` waits before it.
    pub(crate) fn on_arrival(&mut self, now: Timestamp, backlog: Backlog) {
        self.found_nothing = (backlog.packets == 0).then_some(now);
    }

    /// A packet of `size` leaves `backlog` behind. One that arrived at this very instant, and found nothing waiting,
    /// met an idle link.
    pub(crate) fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        let idle = backlog.packets == 0 && self.found_nothing == Some(now);
        let seen = if idle { Bytes::ZERO } else { backlog.bytes + size };
        self.running_minimum = self.running_minimum.min(seen);
    }

    /// What was seen of the queue since the last sample: a queue that was seen empty is empty.
    pub(crate) fn on_sample(&mut self, sample: &QueueSample) {
        self.running_minimum = self.running_minimum.min(sample.shortest.bytes);
    }

    /// The timer expired. `mean_rtt` is d; `capacity` is C in byte/s. A source that knows no capacity leaves the
    /// queueing delay q/C out.
    pub(crate) fn on_timer(
        &mut self,
        now: Timestamp,
        backlog: Backlog,
        mean_rtt: Duration,
        capacity: Option<f64>,
    ) {
        self.persistent = self.running_minimum;
        self.running_minimum = backlog.bytes;
        let queueing = capacity.map_or(0.0, |capacity| backlog.bytes.as_f64() / capacity.max(1.0));
        let interval = mean_rtt - Duration::from_secs_f64(queueing);
        self.due = now + (interval / 2).max(SHORTEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: Duration = Duration::from_millis(100);

    fn backlog(bytes: u64) -> Backlog {
        Backlog { bytes: Bytes::new(bytes), packets: 1 }
    }

    #[test]
    fn the_shortest_queue_between_two_expiries_persists() {
        let mut queue = PersistentQueue::new(Duration::from_millis(50));
        assert_eq!(queue.due(), Timestamp::ZERO + Duration::from_millis(50));
        let mut now = queue.due();
        queue.on_timer(now, backlog(5000), D, None);
        assert_eq!(queue.bytes(), Bytes::ZERO, "the queue was empty at the start");
        for bytes in [7000, 3000, 9000] {
            queue.on_departure(now, Bytes::new(1000), backlog(bytes));
        }
        assert_eq!(queue.bytes(), Bytes::ZERO, "until the timer expires");
        now = queue.due();
        queue.on_timer(now, backlog(8000), D, None);
        assert_eq!(queue.bytes(), Bytes::new(4000));
        // Nothing leaves: what stands at the expiry persists.
        queue.on_timer(now + D, backlog(9000), D, None);
        assert_eq!(queue.bytes(), Bytes::new(8000));
    }

    /// A router that looks from time to time: the shortest that it saw, which is now included.
    #[test]
    fn the_shortest_queue_of_the_samples_persists() {
        let mut queue = PersistentQueue::new(D);
        queue.on_timer(queue.due(), backlog(9000), D, None);
        for bytes in [7000, 3000, 5000] {
            queue.on_sample(&QueueSample { shortest: backlog(bytes), ..QueueSample::default() });
        }
        queue.on_timer(queue.due(), backlog(8000), D, None);
        assert_eq!(queue.bytes(), Bytes::new(3000));
    }

    #[test]
    fn a_busy_link_sees_a_packet_at_least_and_an_idle_one_nothing() {
        let (size, none) = (Bytes::new(1000), Backlog::default());
        let later = Duration::from_millis(1);
        for (waits, persistent) in [(later, size), (Duration::ZERO, Bytes::ZERO)] {
            let mut queue = PersistentQueue::new(D);
            let mut now = queue.due();
            queue.on_timer(now, backlog(5000), D, None);
            now += later;
            queue.on_arrival(now, none);
            queue.on_departure(now + waits, size, none);
            queue.on_timer(now + D, none, D, None);
            assert_eq!(queue.bytes(), persistent);
        }
    }

    #[test]
    fn the_timer_is_half_of_the_propagation_delay() {
        let mut queue = PersistentQueue::new(D);
        let now = queue.due();
        // 50 000 bytes at 1 MB/s are 50 ms of the round trip of 100 ms.
        queue.on_timer(now, backlog(50_000), D, Some(1e6));
        assert_eq!(queue.due(), now + Duration::from_millis(25));
        queue.on_timer(now, backlog(50_000), D, None);
        assert_eq!(queue.due(), now + Duration::from_millis(50));
        queue.on_timer(now, backlog(99_000), D, Some(1e6));
        assert_eq!(queue.due(), now + SHORTEST);
        // A link that carries nothing.
        queue.on_timer(now, backlog(99_000), D, Some(0.0));
        assert_eq!(queue.due(), now + SHORTEST);
    }
}
