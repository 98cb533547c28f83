//! RED's average of the queue.

use airpath_model::{Duration, Timestamp};

/// An exponentially weighted moving average over arrivals. Idle time reduces it as arrivals at an empty queue
/// would.
#[derive(Clone, Copy, Debug)]
pub(super) struct Average {
    weight: f64,
    packet_time: Duration,
    queue: f64,
    /// Time since which the link has had nothing to send.
    idle_since: Option<Timestamp>,
}

impl Average {
    /// Creates the average of a queue that is empty and idle at the start of the run.
    pub(super) const fn new(weight: f64, packet_time: Duration) -> Self {
        Self { weight, packet_time, queue: 0.0, idle_since: Some(Timestamp::ZERO) }
    }

    /// Returns the average.
    pub(super) const fn queue(&self) -> f64 {
        self.queue
    }

    /// Updates the average at the arrival of a packet, before which `queue` packets wait.
    pub(super) fn on_arrival(&mut self, now: Timestamp, queue: f64) {
        if let Some(since) = self.idle_since.take() {
            let missed = now.since(since).as_nanos() / self.packet_time.as_nanos();
            self.queue *= libm::pow(1.0 - self.weight, missed as f64);
        }
        self.queue = (1.0 - self.weight) * self.queue + self.weight * queue;
    }

    /// Records that the queue was empty when the link requested a packet.
    pub(super) fn on_idle(&mut self, now: Timestamp) {
        self.idle_since.get_or_insert(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed independently: w = 0.002, ten arrivals that find 0 to 9 packets, then 50 ms idle at
    /// 1.2 ms per packet.
    #[test]
    fn the_average_follows_the_queue_and_falls_when_idle() {
        let mut average = Average::new(0.002, Duration::from_micros(1200));
        let at = |millis| Timestamp::ZERO + Duration::from_millis(millis);
        for queue in 0..10 {
            average.on_arrival(at(0), f64::from(queue));
        }
        assert!((average.queue() - 0.089_521_675_974_712_32).abs() < 1e-15, "{}", average.queue());
        average.on_idle(at(10));
        average.on_idle(at(20));
        average.on_arrival(at(60), 0.0);
        assert!((average.queue() - 0.082_302_104_089_596_41).abs() < 1e-15, "{}", average.queue());
    }
}
