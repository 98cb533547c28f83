//! The estimate of the capacity.

/// Shortest time over which a delivery rate is measured, in seconds.
pub(super) const SHORTEST: f64 = 0.02;

/// Smallest number of packets of a sample.
const SAMPLE_PACKETS: f64 = 4.0;

/// Duration after which a sample ends with fewer packets, in seconds.
const LONGEST_SAMPLE: f64 = 0.1;

/// Shortest time constant of the average after the start, in seconds. A time constant below the round-trip
/// time would take the bursts of one of several flows for its share.
const TIME_CONSTANT: f64 = 0.1;

/// One acknowledgment of new data, as the estimators see it. Times are in seconds, amounts in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// When the newest data arrived, by the receiver's clock.
    pub(super) stamp: f64,
    pub(super) payload: f64,
    /// The largest payload of one packet.
    pub(super) packet: f64,
    pub(super) queue: f64,
    /// Whether the window limited the flight.
    pub(super) limited: bool,
    pub(super) round_trip: f64,
    /// The queueing delay below which the queue is empty.
    pub(super) empty: f64,
    /// The resolution of the receiver's clock.
    pub(super) tick: f64,
}

#[cfg(test)]
impl Arrival {
    /// Returns a packet of 1000 bytes that waited for `queue`; round trips take 0.1 s.
    pub(super) fn of_packet(stamp: f64, queue: f64) -> Self {
        let (payload, packet) = (1000.0, 1000.0);
        Self { stamp, payload, packet, queue, limited: true, round_trip: 0.1, empty: 0.002, tick: 0.001 }
    }
}

/// Data that arrived in an interval of the receiver's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interval {
    begin: Option<f64>,
    pub(super) payload: f64,
    /// The longest and the shortest queueing delay.
    pub(super) queue: f64,
    shortest: f64,
    /// Sum and number of the queueing delays.
    queues: (f64, f64),
    /// Whether the window limited the flight throughout.
    pub(super) limited: bool,
}

impl Interval {
    /// Adds an arrival. Returns the duration so far; 0 for the first, whose data arrived before the interval.
    pub(super) fn add(&mut self, arrival: &Arrival) -> f64 {
        let Some(begin) = self.begin else {
            self.restart(arrival.stamp);
            return 0.0;
        };
        self.payload += arrival.payload;
        self.queue = self.queue.max(arrival.queue);
        self.shortest = self.shortest.min(arrival.queue);
        self.queues = (self.queues.0 + arrival.queue, self.queues.1 + 1.0);
        self.limited &= arrival.limited;
        arrival.stamp - begin
    }

    /// Ends the interval; the next one begins at `stamp`.
    pub(super) fn restart(&mut self, stamp: f64) {
        *self = Self { begin: Some(stamp), limited: true, shortest: f64::INFINITY, ..Self::default() };
    }
}

/// The capacity: an average of delivery rates, weighted by time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Capacity {
    open: Interval,
    /// Bytes per second; zero before the first sample.
    rate: f64,
    /// The mean queueing delay in the latest sample that jitter can explain, in seconds.
    jitter: f64,
}

impl Capacity {
    /// Returns the estimate in bytes per second; zero before the first sample.
    pub(super) fn get(&self) -> f64 {
        self.rate
    }

    /// Returns the mean queueing delay in the latest sample that jitter can explain, in seconds: at most twice
    /// the difference of its longest and shortest one, which is small if packets wait in a queue.
    pub(super) fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Discards the open sample.
    pub(super) fn discard(&mut self) {
        self.open = Interval::default();
    }

    /// Adds an arrival. Returns whether it completed a sample.
    ///
    /// A rate below the estimate is evidence only if the queue was not empty throughout, the window was used,
    /// and the sample is `undisturbed` by a drain. During the `start` the time constant is short.
    pub(super) fn update(&mut self, arrival: &Arrival, start: bool, undisturbed: bool) -> bool {
        let duration = self.open.add(arrival);
        let enough = self.open.payload >= SAMPLE_PACKETS * arrival.packet;
        if duration < LONGEST_SAMPLE && !(enough && duration >= SHORTEST.max(2.0 * arrival.tick)) {
            return false;
        }
        let rate = self.open.payload / duration;
        let (sum, count) = self.open.queues;
        self.jitter = (sum / count).min(2.0 * (self.open.queue - self.open.shortest));
        let evidence = self.open.queue >= arrival.empty && arrival.limited && undisturbed;
        self.open.restart(arrival.stamp);
        if self.rate == 0.0 {
            self.rate = rate;
        } else if rate >= self.rate || evidence {
            let constant = if start {
                arrival.round_trip.clamp(SHORTEST, TIME_CONSTANT)
            } else {
                arrival.round_trip.max(TIME_CONSTANT)
            };
            self.rate -= libm::expm1(-duration / constant) * (rate - self.rate);
        }
        self.rate = self.rate.max(arrival.packet);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One packet each `gap` seconds, `count` times, from `from`.
    fn feed(capacity: &mut Capacity, from: f64, gap: f64, count: u32, queue: f64) -> f64 {
        for packet in 1..=count {
            let arrival = Arrival::of_packet(from + gap * f64::from(packet), queue);
            capacity.update(&arrival, false, true);
        }
        from + gap * f64::from(count)
    }

    #[test]
    fn the_average_has_a_time_constant_of_one_round_trip() {
        let mut capacity = Capacity::default();
        let now = feed(&mut capacity, 0.0, 0.01, 101, 0.05);
        assert!((capacity.get() - 1e5).abs() < 1.0, "{}", capacity.get());
        feed(&mut capacity, now, 0.02, 5, 0.05);
        // Samples of four packets: one of 80 ms counts.
        let expected = 5e4 + 5e4 * libm::exp(-0.8);
        assert!((capacity.get() - expected).abs() < 1.0, "{} instead of {expected}", capacity.get());
    }

    #[test]
    fn a_low_rate_with_an_empty_queue_is_no_evidence_and_a_high_one_is() {
        let mut capacity = Capacity::default();
        let now = feed(&mut capacity, 0.0, 0.01, 101, 0.05);
        let now = feed(&mut capacity, now, 0.02, 50, 0.001);
        assert!((capacity.get() - 1e5).abs() < 1.0, "{}", capacity.get());
        feed(&mut capacity, now, 0.005, 400, 0.001);
        assert!((capacity.get() - 2e5).abs() < 1.0, "{}", capacity.get());
    }

    #[test]
    fn a_varying_delay_is_jitter_and_a_constant_queue_is_none() {
        let mut capacity = Capacity::default();
        for packet in 0..100 {
            let queue = if packet % 2 == 0 { 0.0 } else { 0.006 };
            capacity.update(&Arrival::of_packet(0.01 * f64::from(packet), queue), false, true);
        }
        assert!((capacity.jitter() - 0.003).abs() < 1e-9, "{}", capacity.jitter());
        feed(&mut capacity, 1.0, 0.01, 100, 0.05);
        assert!(capacity.jitter() < 1e-9, "{}", capacity.jitter());
    }

    #[test]
    fn a_discarded_sample_does_not_count_the_pause() {
        let mut capacity = Capacity::default();
        let now = feed(&mut capacity, 0.0, 0.01, 101, 0.05);
        capacity.discard();
        feed(&mut capacity, now + 10.0, 0.01, 100, 0.05);
        assert!((capacity.get() - 1e5).abs() < 1.0, "{}", capacity.get());
    }
}
