//! Queueing delay and base delay.

use airpath_model::{Duration, Timestamp};

use crate::windowed_extremum::WindowedMinimum;

/// Time for which the smallest one-way delay is assumed to be that of an empty queue.
const ONE_WAY_WINDOW: Duration = Duration::from_secs(10);

/// Shortest time over which the base delay is a minimum, and the number of smoothed round trips.
const BASE_WINDOW: Duration = Duration::from_secs(1);
const BASE_ROUND_TRIPS: u64 = 4;

/// Time constant of the average base delay, in seconds.
const BASE_TIME_CONSTANT: f64 = 0.2;

/// Time over which the jitter is a minimum.
const JITTER_WINDOW: Duration = Duration::from_secs(10);

/// The queueing delay on the forward path, and the base delay: the rest of the round trip, which includes
/// the queue of the reverse path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delays {
    /// Receiver's clock minus sender's clock, in ns.
    one_way: WindowedMinimum<i64>,
    rest: WindowedMinimum<i64>,
    /// The average of the rest, in seconds, and the time of its last update.
    average: Option<(Timestamp, f64)>,
    queue: f64,
    base: f64,
    /// The jitter of each sample, in ns.
    jitters: WindowedMinimum<i64>,
    jitter: f64,
}

impl Delays {
    /// Returns the latest queueing delay, in seconds.
    pub(super) fn queue(&self) -> f64 {
        self.queue
    }

    /// Returns the base delay, in seconds: the larger one of the minimum and the average of the rest.
    pub(super) fn base(&self) -> f64 {
        self.base
    }

    /// Returns the mean delay by jitter, in seconds: the smallest one of a sample. A queue looks like jitter in
    /// some samples, but rarely in all.
    pub(super) fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Adds the mean delay of a sample that jitter can explain, in seconds.
    pub(super) fn update_jitter(&mut self, now: Timestamp, jitter: f64) {
        let jitter = (jitter * 1e9) as i64;
        self.jitter = self.jitters.update(JITTER_WINDOW.as_nanos(), now.as_nanos(), jitter) as f64 * 1e-9;
    }

    /// Adds a sample of the round-trip time whose packet arrived at `stamp`, in ns of the receiver's clock.
    pub(super) fn update(&mut self, now: Timestamp, stamp: u64, rtt: Duration, smoothed: Duration) {
        let at = now.as_nanos();
        let sent = at.wrapping_sub(rtt.as_nanos());
        let one_way = stamp.wrapping_sub(sent) as i64;
        let queue = one_way - self.one_way.update(ONE_WAY_WINDOW.as_nanos(), at, one_way);
        self.queue = queue as f64 * 1e-9;
        let rest = rtt.as_nanos() as i64 - queue;
        let window = (smoothed * BASE_ROUND_TRIPS).max(BASE_WINDOW);
        let minimum = self.rest.update(window.as_nanos(), at, rest) as f64 * 1e-9;
        let rest = rest as f64 * 1e-9;
        let average = self.average.map_or(rest, |(last, average)| {
            let passed = now.since(last).as_secs_f64();
            average - libm::expm1(-passed / BASE_TIME_CONSTANT) * (rest - average)
        });
        self.average = Some((now, average));
        self.base = minimum.max(average).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample at `now` ms with these delays on the way out and back; the receiver's clock has an offset.
    fn sample(delays: &mut Delays, now: u64, out: u64, back: u64) {
        let stamp = (now - back) * 1_000_000 + 77_000_000_000;
        let rtt = Duration::from_millis(out + back);
        delays.update(Timestamp::ZERO + Duration::from_millis(now), stamp, rtt, rtt);
    }

    #[test]
    fn the_queue_of_the_reverse_path_belongs_to_the_base_delay() {
        let mut delays = Delays::default();
        sample(&mut delays, 1000, 20, 20);
        sample(&mut delays, 1010, 50, 20);
        assert!((delays.queue() - 0.03).abs() < 1e-6 && (delays.base() - 0.04).abs() < 1e-6);
        for now in 102..400 {
            sample(&mut delays, now * 10, 20, 60);
        }
        assert!(delays.queue().abs() < 1e-6 && (delays.base() - 0.08).abs() < 1e-5, "{delays:?}");
    }

    #[test]
    fn the_jitter_is_the_smallest_of_ten_seconds() {
        let mut delays = Delays::default();
        for (second, jitter, smallest) in
            [(1, 0.004, 0.004), (2, 0.003, 0.003), (3, 0.05, 0.003), (11, 0.004, 0.003)]
        {
            delays.update_jitter(Timestamp::ZERO + Duration::from_secs(second), jitter);
            assert!((delays.jitter() - smallest).abs() < 1e-8, "{second} s: {}", delays.jitter());
        }
        delays.update_jitter(Timestamp::ZERO + Duration::from_secs(13), 0.005);
        assert!((delays.jitter() - 0.004).abs() < 1e-8, "{}", delays.jitter());
    }

    #[test]
    fn a_longer_path_is_adopted_after_ten_seconds() {
        let mut delays = Delays::default();
        sample(&mut delays, 1000, 20, 20);
        for now in 102..1400 {
            sample(&mut delays, now * 10, 40, 20);
        }
        assert!(delays.queue().abs() < 1e-6 && (delays.base() - 0.06).abs() < 1e-4, "{delays:?}");
    }
}
