//! Estimation of the tick rate of a host's timestamp clock.

use airpath_model::Duration;

use crate::sequence::Unwrapped;

/// An estimator of the tick rate of one host's timestamps (RFC 7323, section 5.4, allows 1 ms to 1 s).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockRate {
    values: Unwrapped,
    first: Option<(u64, i64)>,
    last: Option<(u64, i64)>,
}

/// Tick rates of known clocks, ticks per second: old BSD, Windows, Linux with HZ of 100, 250, 300, 1000,
/// Linux with microseconds.
const KNOWN_RATES: [f64; 8] = [2.0, 10.0, 100.0, 250.0, 300.0, 1_000.0, 10_000.0, 1_000_000.0];

impl ClockRate {
    /// Records the timestamp of a captured packet.
    pub(crate) fn on_packet(&mut self, time_ns: u64, value: u32) {
        let seen = (time_ns, self.values.offset(value));
        self.first.get_or_insert(seen);
        if self.last.is_none_or(|last| seen.0 >= last.0 && seen.1 >= last.1) {
            self.last = Some(seen);
        }
    }

    /// Returns the number of ticks so far.
    pub(crate) fn ticks(&self) -> i64 {
        self.first.zip(self.last).map_or(0, |(first, last)| last.1 - first.1)
    }

    /// Returns the ticks per second: the known rate closest to the measured one if it is within one tick of
    /// it, otherwise the measured rate. Returns `None` if the clock did not tick.
    pub(crate) fn rate(&self) -> Option<f64> {
        let (first, last) = self.first.zip(self.last)?;
        let (ticks, seconds) = ((last.1 - first.1) as f64, last.0.saturating_sub(first.0) as f64 / 1e9);
        if ticks <= 0.0 || seconds <= 0.0 {
            return None;
        }
        let seen = ticks / seconds;
        // The uncertainty: one tick, and 10 % for the capture's own clock and for delays.
        let doubt = 1.0 / seconds + 0.1 * seen;
        let distance = |rate: f64| if rate > seen { rate / seen } else { seen / rate };
        let nearest = KNOWN_RATES.into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
        Some(if (nearest - seen).abs() <= doubt { nearest } else { seen })
    }

    /// Returns the time between two ticks.
    pub(crate) fn tick(&self) -> Option<Duration> {
        self.rate().map(|rate| Duration::from_secs_f64(1.0 / rate).max(Duration::from_nanos(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pairs: &[(u64, u32)]) -> Option<f64> {
        let mut clock = ClockRate::default();
        for &(ms, value) in pairs {
            clock.on_packet(ms * 1_000_000, value);
        }
        clock.rate()
    }

    #[test]
    fn known_rates_are_recognised() {
        assert_eq!(seen(&[(0, 7), (500, 507)]), Some(1_000.0));
        assert_eq!(seen(&[(0, u32::MAX), (9, 8)]), Some(1_000.0), "across the wrap");
        assert_eq!(seen(&[(0, 7), (803, 87)]), Some(100.0));
        assert_eq!(seen(&[(0, 7), (2_300, 12)]), Some(2.0));
        assert_eq!(seen(&[(0, 7), (50, 50_007)]), Some(1_000_000.0));
    }

    #[test]
    fn an_unusual_clock_rate_is_kept_and_a_stopped_clock_has_none() {
        assert_eq!(seen(&[(0, 0), (10_000, 6_000)]), Some(600.0));
        assert_eq!(seen(&[(0, 7), (500, 7)]), None);
        assert_eq!(seen(&[]), None);
    }
}
