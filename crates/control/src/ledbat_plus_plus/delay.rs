//! The delay of the empty path, and the current delay.

use airpath_model::{Duration, Timestamp};

/// Number of minutes over which the base delay is the minimum (RFC 6817, section 3.4.2, `BASE_HISTORY`).
const MINUTES: usize = 10;

/// Number of samples whose smallest is the current delay (RFC 6817, section 3.4.2, `CURRENT_FILTER`).
const SAMPLES: usize = 4;

const MINUTE: Duration = Duration::from_secs(60);

/// The smallest round-trip time of ten minutes, stored as one minimum per minute.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BaseDelay {
    minima: [Option<Duration>; MINUTES],
    minute: u64,
}

impl BaseDelay {
    pub(super) fn update(&mut self, now: Timestamp, sample: Duration) {
        let minute = now.as_nanos() / MINUTE.as_nanos();
        // Minutes without a sample are empty.
        for passed in (self.minute + 1..=minute).rev().take(MINUTES) {
            self.minima[Self::slot(passed)] = None;
        }
        self.minute = minute;
        let slot = &mut self.minima[Self::slot(minute)];
        *slot = Some(slot.map_or(sample, |minimum| minimum.min(sample)));
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.minima.iter().flatten().min().copied()
    }

    fn slot(minute: u64) -> usize {
        usize::try_from(minute % MINUTES as u64).unwrap_or(0)
    }
}

/// The smallest of the last four samples, so that delayed and compressed acknowledgments do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CurrentDelay {
    samples: [Option<Duration>; SAMPLES],
    next: usize,
}

impl CurrentDelay {
    pub(super) fn update(&mut self, sample: Duration) {
        self.samples[self.next] = Some(sample);
        self.next = (self.next + 1) % SAMPLES;
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.samples.iter().flatten().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn minute(minute: u64) -> Timestamp {
        Timestamp::ZERO + MINUTE * minute
    }

    #[test]
    fn the_base_delay_is_the_smallest_of_ten_minutes() {
        let mut base = BaseDelay::default();
        assert_eq!(base.get(), None);
        base.update(minute(0), ms(40));
        base.update(minute(0), ms(70));
        base.update(minute(3), ms(50));
        base.update(minute(9), ms(80));
        assert_eq!(base.get(), Some(ms(40)));
        base.update(minute(10), ms(80));
        assert_eq!(base.get(), Some(ms(50)));
        base.update(minute(40), ms(90));
        assert_eq!(base.get(), Some(ms(90)), "a long silence forgets all");
    }

    #[test]
    fn the_current_delay_is_the_smallest_of_four_samples() {
        let mut current = CurrentDelay::default();
        for (sample, found) in [(5, 5), (9, 5), (8, 5), (7, 5), (9, 7), (9, 7), (9, 7), (9, 9)] {
            current.update(ms(sample));
            assert_eq!(current.get(), Some(ms(found)));
        }
    }
}
