//! The rate of departures over a sliding window.

use airpath_model::{Bytes, Duration, Timestamp};

/// Number of steps into which the window is divided.
const STEPS: usize = 20;

/// Departures over the last `window`, in bytes per second.
///
/// A packet counts as spread over the time since the previous packet. Otherwise the rate of a stream of whole
/// packets would depend on how many of them happen to fit into the window. The departed amount is stored at
/// twenty steps of the window and interpolated linearly in between, so that memory does not grow with the
/// rate.
#[derive(Clone, Debug)]
pub(crate) struct SlidingRate {
    window: Duration,
    step: Duration,
    /// Departed bytes at the ends of the last steps: the value for step `n`, which begins at `n` times the
    /// step length, is at `n % len`.
    departed_at: [f64; STEPS + 2],
    last: Timestamp,
    departed: u64,
}

impl SlidingRate {
    /// Creates the rate over `window`, which is at least twenty nanoseconds, without departures so far.
    pub(crate) fn new(window: Duration) -> Self {
        let step = Duration::from_nanos((window.as_nanos() / STEPS as u64).max(1));
        Self { window, step, departed_at: [0.0; STEPS + 2], last: Timestamp::ZERO, departed: 0 }
    }

    /// Records a departure at `now`, which never decreases. Returns the rate over the window that ends at
    /// `now`.
    pub(crate) fn on_departure(&mut self, now: Timestamp, size: Bytes) -> f64 {
        let (before, gap) = (self.departed as f64, now.since(self.last));
        let newest = self.number(now);
        // Older steps are outside the window.
        let oldest = (self.number(self.last) + 1).max(newest.saturating_sub(STEPS as u64 + 1));
        for number in oldest..=newest {
            let share = (Timestamp::ZERO + self.step * number).since(self.last).ratio(gap);
            self.departed_at[number as usize % (STEPS + 2)] = before + share * size.as_f64();
        }
        self.last = now;
        self.departed += size.get();
        (self.departed as f64 - self.departed_before_window(now)) / self.window.as_secs_f64()
    }

    /// Returns the amount that had departed at the start of the window that ends at `now`.
    fn departed_before_window(&self, now: Timestamp) -> f64 {
        let Some(began) = now.as_nanos().checked_sub(self.window.as_nanos()) else { return 0.0 };
        let (number, into) = (began / self.step.as_nanos(), began % self.step.as_nanos());
        let at = |number: u64| self.departed_at[number as usize % (STEPS + 2)];
        let share = into as f64 / self.step.as_nanos() as f64;
        at(number) + share * (at(number + 1) - at(number))
    }

    fn number(&self, time: Timestamp) -> u64 {
        time.as_nanos() / self.step.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Duration = Duration::from_millis(20);

    fn at(micros: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn a_steady_stream_has_its_rate_whatever_fits_into_the_window() {
        for spacing in [370, 1000, 1200, 7000, 12_000, 19_999, 24_000, 300_000] {
            let mut rate = SlidingRate::new(WINDOW);
            let mut seen = 0.0;
            for packet in 1..200 {
                seen = rate.on_departure(at(packet * spacing), Bytes::new(1500));
            }
            let truth = 1500.0 / (spacing as f64 * 1e-6);
            assert!((seen / truth - 1.0).abs() < 1e-3, "{seen} for {truth} byte/s");
        }
    }

    #[test]
    fn packets_older_than_the_window_are_forgotten() {
        let mut rate = SlidingRate::new(WINDOW);
        for packet in 1..=100 {
            rate.on_departure(at(packet * 100), Bytes::new(1500));
        }
        // After 80 ms without packets, a quarter of the packet is within the window.
        let seen = rate.on_departure(at(90_000), Bytes::new(1500));
        assert!((seen - 1500.0 / 0.080).abs() < 1e-6, "{seen}");
        let seen = rate.on_departure(at(90_000), Bytes::new(1000));
        assert!((seen - 1500.0 / 0.080 - 1000.0 / 0.020).abs() < 1e-6, "{seen}");
    }

    #[test]
    fn the_time_before_the_start_counts_as_idle() {
        let mut rate = SlidingRate::new(WINDOW);
        assert!((rate.on_departure(at(0), Bytes::new(1500)) - 75_000.0).abs() < 1e-9);
        assert!((rate.on_departure(at(5_000), Bytes::new(500)) - 100_000.0).abs() < 1e-9);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// The result is between the amounts that, in the list of all packets, had departed one step before
        /// and one step after the start of the window.
        #[test]
        fn the_rate_equals_that_of_a_list_of_all_packets(packets in prop::collection::vec((0_u64..40_000, 1_u64..9000), 1..100)) {
            let mut rate = SlidingRate::new(WINDOW);
            let mut curve = alloc::vec![(0, 0.0)];
            for (gap, size) in packets {
                let (now, before) = curve[curve.len() - 1];
                curve.push((now + gap, before + size as f64));
                let (now, departed) = (now + gap, before + size as f64);
                let seen = rate.on_departure(at(now), Bytes::new(size)) * 0.020;
                let most = departed - interpolated(&curve, now.saturating_sub(21_000));
                let least = departed - interpolated(&curve, now.saturating_sub(19_000));
                prop_assert!(least - 1e-6 <= seen && seen <= most + 1e-6, "{} not in {}..{}", seen, least, most);
            }
        }
    }

    /// Returns the value of the curve at `time`, or zero before its first point.
    fn interpolated(curve: &[(u64, f64)], time: u64) -> f64 {
        let after = curve.partition_point(|&(at, _)| at <= time);
        let Some(&(end, high)) = curve.get(after) else { return curve[curve.len() - 1].1 };
        let (start, low) = curve[after - 1];
        low + (high - low) * (time - start) as f64 / (end - start) as f64
    }
}
