//! The queue that does not drain within a round trip.

use airpath_model::{Backlog, Bytes, Duration, Timestamp};

use crate::QueueSample;

/// Shortest period of the timer of the persistent queue (ns-2.35 `xcp/xcpq.cc`, line 35).
const SHORTEST: Duration = Duration::from_millis(2);

/// Q of XCP: the shortest queue observed by departing packets over about a propagation delay.
///
/// A departing packet observes itself and the packets behind it (ns-2.35 `xcp/xcpq.cc`, line 32), and a link
/// with nothing to send observes an empty queue. A link that is never idle therefore has a persistent queue
/// of at least one packet, which keeps it slightly below its capacity. In ns-2.35 the scheduler of virtual
/// queues (`xcp/xcp.cc`) prevents an idle link from being observed, which leaves up to a fifth of a packet
/// less in the queue of a link that is nearly full.
///
/// The persistent queue has its own timer, `T_q` = max(2 ms, (d − q/C) / 2), which must not be the control
/// timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PersistentQueue {
    persistent: Bytes,
    running_minimum: Bytes,
    due: Timestamp,
    /// Arrival time of the last packet, if the queue was empty at its arrival.
    found_nothing: Option<Timestamp>,
}

impl PersistentQueue {
    /// Creates an empty persistent queue whose timer first expires after `interval`.
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            persistent: Bytes::ZERO,
            running_minimum: Bytes::ZERO,
            due: Timestamp::ZERO + interval.max(SHORTEST),
            found_nothing: None,
        }
    }

    /// Returns Q, in bytes.
    pub(crate) fn bytes(&self) -> Bytes {
        self.persistent
    }

    /// Returns the time at which [`PersistentQueue::on_timer`] is due.
    pub(crate) fn due(&self) -> Timestamp {
        self.due
    }

    /// Processes the arrival of a packet. `backlog` is the queue before the packet.
    pub(crate) fn on_arrival(&mut self, now: Timestamp, backlog: Backlog) {
        self.found_nothing = (backlog.packets == 0).then_some(now);
    }

    /// Processes the departure of a packet of `size` that leaves `backlog` behind. If the packet arrived at
    /// the same instant at an empty queue, the link was idle.
    pub(crate) fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        let idle = backlog.packets == 0 && self.found_nothing == Some(now);
        let seen = if idle { Bytes::ZERO } else { backlog.bytes + size };
        self.running_minimum = self.running_minimum.min(seen);
    }

    /// Processes the traffic since the last sample. A queue that was observed empty counts as empty.
    pub(crate) fn on_sample(&mut self, sample: &QueueSample) {
        self.running_minimum = self.running_minimum.min(sample.shortest.bytes);
    }

    /// Processes the expiry of the timer. `mean_rtt` is d, and `capacity` is C in byte/s. If the source does
    /// not estimate a capacity, the queueing delay q/C is omitted.
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
    fn the_shortest_queue_between_two_expiries_is_the_persistent_queue() {
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
        // No packet departs: the queue at the expiry persists.
        queue.on_timer(now + D, backlog(9000), D, None);
        assert_eq!(queue.bytes(), Bytes::new(8000));
    }

    /// For a router that takes samples, the shortest observed queue persists, including the current one.
    #[test]
    fn the_shortest_queue_of_the_samples_is_the_persistent_queue() {
        let mut queue = PersistentQueue::new(D);
        queue.on_timer(queue.due(), backlog(9000), D, None);
        for bytes in [7000, 3000, 5000] {
            queue.on_sample(&QueueSample { shortest: backlog(bytes), ..QueueSample::default() });
        }
        queue.on_timer(queue.due(), backlog(8000), D, None);
        assert_eq!(queue.bytes(), Bytes::new(3000));
    }

    #[test]
    fn the_persistent_queue_is_at_least_a_packet_on_a_busy_link_and_zero_on_an_idle_one() {
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
        // A link with a capacity of zero.
        queue.on_timer(now, backlog(99_000), D, Some(0.0));
        assert_eq!(queue.due(), now + SHORTEST);
    }
}
