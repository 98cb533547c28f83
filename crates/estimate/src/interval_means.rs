//! Means of a piecewise constant value over the intervals of an estimation timer.

use airpath_model::{Duration, Timestamp};

/// After a silence of this many intervals, the value is out of date and the timers restart.
const LONGEST_SILENCE: u32 = 50;

/// Samples a piecewise constant value on a measurement timer and returns the mean of the samples of each
/// estimation interval (EBE-J, section III-A). It has no timers of its own: the caller passes the time.
#[derive(Clone, Debug)]
pub(crate) struct IntervalMeans {
    sampling: Duration,
    interval: Duration,
    /// `None` before the first value.
    running: Option<Running>,
}

/// The current interval.
#[derive(Clone, Debug)]
struct Running {
    began: Timestamp,
    value: f64,
    samples: u64,
    sum: f64,
}

impl Running {
    const fn new(began: Timestamp, value: f64) -> Self {
        Self { began, value, samples: 0, sum: 0.0 }
    }

    /// Takes the samples that are due up to `now`. The value has been constant since the last call.
    fn take(&mut self, now: Timestamp, sampling: Duration) {
        let due = now.since(self.began).as_nanos() / sampling.as_nanos();
        self.sum += due.saturating_sub(self.samples) as f64 * self.value;
        self.samples = self.samples.max(due);
    }
}

impl IntervalMeans {
    /// Creates the state with the periods of the two timers: `sampling` is greater than zero, and `interval`
    /// at least as long.
    pub(crate) const fn new(sampling: Duration, interval: Duration) -> Self {
        Self { sampling, interval, running: None }
    }

    /// Returns the end and the mean of the next interval that is over by `now`. The caller repeats the call
    /// until it returns `None`, then passes the new value to [`IntervalMeans::hold`].
    pub(crate) fn next(&mut self, now: Timestamp) -> Option<(Timestamp, f64)> {
        let running = self.running.as_mut()?;
        let ends = running.began + self.interval;
        if now < ends {
            running.take(now, self.sampling);
            return None;
        }
        if now.since(ends) > self.interval * u64::from(LONGEST_SILENCE) {
            *running = Running::new(now, running.value);
            return None;
        }
        running.take(ends, self.sampling);
        let mean = running.sum / running.samples as f64;
        *running = Running::new(ends, running.value);
        Some((ends, mean))
    }

    /// Sets the value from `now` on.
    pub(crate) fn hold(&mut self, now: Timestamp, value: f64) {
        match &mut self.running {
            Some(running) => running.value = value,
            None => self.running = Some(Running::new(now, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(millis)
    }

    fn means() -> IntervalMeans {
        IntervalMeans::new(Duration::from_millis(10), Duration::from_millis(200))
    }

    #[test]
    fn a_mean_is_of_twenty_samples_of_the_value_at_their_time() {
        let mut means = means();
        assert_eq!(means.next(at(5)), None);
        means.hold(at(5), 1.0);
        // Samples at 15, 25, ..., 205 ms: the first nine are 1, the other eleven 2.
        assert_eq!(means.next(at(100)), None);
        means.hold(at(100), 2.0);
        let (ends, mean) = means.next(at(205)).unwrap();
        assert_eq!(ends, at(205));
        assert!((mean - (9.0 + 2.0 * 11.0) / 20.0).abs() < 1e-12, "{mean}");
        assert_eq!(means.next(at(205)), None);
    }

    #[test]
    fn every_interval_of_a_pause_has_the_last_value() {
        let mut means = means();
        means.hold(at(0), 3.0);
        let ended: alloc::vec::Vec<_> = core::iter::from_fn(|| means.next(at(650))).collect();
        assert_eq!(ended, [(at(200), 3.0), (at(400), 3.0), (at(600), 3.0)]);
    }

    #[test]
    fn after_a_long_pause_the_timers_restart() {
        let mut means = means();
        means.hold(at(0), 3.0);
        assert_eq!(means.next(at(3_600_000)), None);
        means.hold(at(3_600_000), 4.0);
        assert_eq!(means.next(at(3_600_200)), Some((at(3_600_200), 4.0)));
    }
}
