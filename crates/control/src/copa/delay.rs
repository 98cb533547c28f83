//! The round-trip times that Copa uses.

use airpath_model::{Duration, Timestamp};

use crate::windowed_extremum::{WindowedMaximum, WindowedMinimum};

/// Time for which a minimum is assumed to be the round-trip time without a queue (section 2.1).
const MINIMUM_WINDOW: Duration = Duration::from_secs(10);

/// Round trips over which the largest RTT is taken (section 2.2).
const MAXIMUM_ROUND_TRIPS: u64 = 4;

/// Sliding extrema of the round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delays {
    minimum: WindowedMinimum<Duration>,
    standing: WindowedMinimum<Duration>,
    maximum: WindowedMaximum<Duration>,
}

/// Round-trip times at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    /// `RTTmin`: the smallest in 10 s.
    pub(super) minimum: Duration,
    /// `RTTstanding`: the smallest in half a smoothed RTT, so that neither jitter nor compressed
    /// acknowledgments count.
    pub(super) standing: Duration,
    /// `RTTmax`: the largest in four round trips.
    pub(super) maximum: Duration,
}

impl Delays {
    /// Adds a sample; `smoothed` is SRTT including the sample.
    pub(super) fn update(&mut self, now: Timestamp, sample: Duration, smoothed: Duration) {
        let now = now.as_nanos();
        // A round-trip time of zero would require an unlimited rate.
        let sample = sample.max(Duration::from_nanos(1));
        self.minimum.update(MINIMUM_WINDOW.as_nanos(), now, sample);
        self.standing.update((smoothed / 2).as_nanos(), now, sample);
        self.maximum.update((smoothed * MAXIMUM_ROUND_TRIPS).as_nanos(), now, sample);
    }

    /// Returns the delays, or `None` before the first sample.
    pub(super) fn get(&self) -> Option<Delay> {
        Some(Delay {
            minimum: self.minimum.get()?,
            standing: self.standing.get()?,
            maximum: self.maximum.get()?,
        })
    }
}

impl Delay {
    /// `d_q`.
    pub(super) fn queueing(&self) -> Duration {
        self.standing - self.minimum
    }

    /// Returns whether the queue is nearly empty: its delay is below a tenth of the range of the RTT (section
    /// 2.2).
    pub(super) fn is_nearly_empty(&self) -> bool {
        self.queueing() * 10 < self.maximum - self.minimum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 2.2: `RTTmax` is the maximum of the last four round trips; section 2.1: `RTTstanding` is the
    /// minimum of half a round trip.
    #[test]
    fn the_largest_rtt_covers_four_round_trips_and_the_standing_rtt_half_a_round_trip() {
        let (ms, at) = (Duration::from_millis, |ms| Timestamp::ZERO + Duration::from_millis(ms));
        let mut delays = Delays::default();
        delays.update(at(0), ms(200), ms(100));
        for (now, maximum, standing) in [(49, 200, 110), (399, 200, 110), (402, 110, 110)] {
            delays.update(at(now), ms(110), ms(100));
            let found = delays.get().map(|delay| (delay.maximum, delay.standing));
            assert_eq!(found, Some((ms(maximum), ms(standing))), "{now}");
        }
        delays.update(at(451), ms(150), ms(100));
        delays.update(at(453), ms(150), ms(100));
        assert_eq!(delays.get().map(|delay| delay.standing), Some(ms(150)));
    }
}
