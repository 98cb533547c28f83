//! Measurement of the traffic through a queue over one control interval.

use airpath_model::{Backlog, Bytes, Duration, Timestamp};

use crate::QueueSample;

/// Counts arrivals and integrates the queue between two control timeouts.
///
/// Every packet through the queue counts, including acknowledgments and packets that are then dropped, as in
/// ns-2.35 (`xcp/xcpq.cc`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntervalMeter {
    began: Timestamp,
    last_event: Timestamp,
    input: Bytes,
    shortest: Bytes,
    /// The integral of the queue over time, in byte seconds.
    queue_time: f64,
}

/// One finished interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passed {
    /// Length of the interval; never zero.
    pub(crate) length: Duration,
    /// Bytes that arrived.
    pub(crate) input: Bytes,
    /// Arrivals over the length, byte/s.
    pub(crate) input_rate: f64,
    /// The shortest queue.
    pub(crate) shortest_queue: Bytes,
    /// The mean queue over time, bytes.
    pub(crate) mean_queue: f64,
    /// The queue at the end.
    pub(crate) last_queue: Bytes,
}

impl IntervalMeter {
    /// Creates a meter whose first interval begins with the run, with an empty queue.
    pub(crate) const fn new() -> Self {
        Self::beginning(Timestamp::ZERO, Bytes::ZERO)
    }

    const fn beginning(now: Timestamp, queue: Bytes) -> Self {
        Self { began: now, last_event: now, input: Bytes::ZERO, shortest: queue, queue_time: 0.0 }
    }

    /// Records the arrival of a packet of `size` behind `backlog`.
    pub(crate) fn on_arrival(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        self.integrate(now, backlog.bytes);
        self.input += size;
    }

    /// Records the departure of a packet of `size` that leaves `backlog` behind.
    pub(crate) fn on_departure(&mut self, now: Timestamp, size: Bytes, backlog: Backlog) {
        self.integrate(now, backlog.bytes + size);
        self.shortest = self.shortest.min(backlog.bytes);
    }

    /// Records the traffic since the last sample. The queue is assumed to have had its current length
    /// throughout.
    pub(crate) fn on_sample(&mut self, now: Timestamp, sample: &QueueSample) {
        self.integrate(now, sample.backlog.bytes);
        self.input += sample.arrived;
        self.shortest = self.shortest.min(sample.shortest.bytes);
    }

    /// Ends the interval and begins the next.
    pub(crate) fn finish(&mut self, now: Timestamp, backlog: Backlog) -> Passed {
        self.integrate(now, backlog.bytes);
        let length = now.since(self.began).max(Duration::from_nanos(1));
        let seconds = length.as_secs_f64();
        let passed = Passed {
            length,
            input: self.input,
            input_rate: self.input.as_f64() / seconds,
            shortest_queue: self.shortest.min(backlog.bytes),
            mean_queue: self.queue_time / seconds,
            last_queue: backlog.bytes,
        };
        *self = Self::beginning(now, backlog.bytes);
        passed
    }

    /// Integrates the queue, which was `queue` since the last event.
    fn integrate(&mut self, now: Timestamp, queue: Bytes) {
        self.queue_time += queue.as_f64() * now.since(self.last_event).as_secs_f64();
        self.last_event = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(milliseconds)
    }

    fn backlog(bytes: u64) -> Backlog {
        Backlog { bytes: Bytes::new(bytes), packets: bytes / 1000 }
    }

    #[test]
    fn arrivals_and_the_queue_over_time_are_measured() {
        let size = Bytes::new(1000);
        let mut meter = IntervalMeter::new();
        meter.on_arrival(at(0), size, backlog(0));
        meter.on_arrival(at(0), size, backlog(1000));
        meter.on_departure(at(30), size, backlog(1000));
        let first = meter.finish(at(100), backlog(1000));
        assert_eq!(first.length, Duration::from_millis(100));
        assert!((first.input_rate - 20_000.0).abs() < 1e-9);
        // 2000 bytes for 30 ms, 1000 for 70 ms.
        assert!((first.mean_queue - 1300.0).abs() < 1e-9);
        assert_eq!((first.shortest_queue, first.last_queue), (Bytes::ZERO, size));

        meter.on_arrival(at(150), size, backlog(1000));
        let second = meter.finish(at(200), backlog(2000));
        assert!((second.input_rate - 10_000.0).abs() < 1e-9);
        assert!((second.mean_queue - 1500.0).abs() < 1e-9);
        assert_eq!((second.shortest_queue, second.last_queue), (size, Bytes::new(2000)));
    }

    /// Between two samples the queue is assumed to have the length of the later sample; the shortest queue
    /// may have occurred in between.
    #[test]
    fn samples_contain_arrivals_shortest_queue_and_queue_integral() {
        let mut meter = IntervalMeter::new();
        meter.finish(at(100), backlog(5000));
        let sample = QueueSample {
            arrived: Bytes::new(3000),
            shortest: backlog(1000),
            backlog: backlog(2000),
            ..QueueSample::default()
        };
        meter.on_sample(at(140), &sample);
        let passed = meter.finish(at(200), backlog(4000));
        assert_eq!((passed.input, passed.shortest_queue), (Bytes::new(3000), Bytes::new(1000)));
        // 2000 bytes for 40 ms, 4000 for 60 ms.
        assert!((passed.mean_queue - 3200.0).abs() < 1e-9, "{}", passed.mean_queue);
    }

    #[test]
    fn an_interval_without_duration_has_finite_values() {
        let mut meter = IntervalMeter::new();
        meter.on_arrival(Timestamp::ZERO, Bytes::new(1500), backlog(0));
        let passed = meter.finish(Timestamp::ZERO, backlog(1500));
        assert!(passed.input_rate.is_finite() && passed.mean_queue.is_finite());
    }
}
