//! Transmission at a constant rate.

use airpath_model::{Bytes, Duration, Rate, Timestamp, Transmission};

use crate::sending_time::{NANOS_PER_SECOND, SendingTime};

/// A transmitter with a constant rate, or without transmission time. It computes the same times as
/// [`crate::Piecewise`], in less memory and fewer steps: packets sent without a pause leave at the instants
/// at which a fluid link would have finished them, each rounded up to a whole nanosecond, and rounding errors
/// do not accumulate.
#[derive(Clone, Debug)]
pub struct SteadyRate {
    rate: Rate,
    now: Timestamp,
    /// The bits that the link could have sent between the fluid end of the last packet and `now`, times 10⁹:
    /// less than a nanosecond's worth.
    surplus: u64,
    /// The sending time of the last packet size.
    last: SendingTime,
}

impl SteadyRate {
    /// Creates a transmitter with a nonzero `rate`.
    pub(crate) const fn new(rate: Rate) -> Self {
        Self { rate, now: Timestamp::ZERO, surplus: 0, last: SendingTime::NONE }
    }

    /// Returns the time at which the last bit of a packet has left; [`Timestamp::NEVER`] if it does not
    /// leave.
    #[inline]
    pub fn departs(&mut self, transmission: &Transmission) -> Timestamp {
        let Transmission { start, size, continues } = *transmission;
        if !start.is_scheduled() {
            return start;
        }
        let goes_on = continues && start == self.now;
        let surplus = if goes_on { self.surplus } else { 0 };
        let start = self.now.max(start);
        if !self.last.is_of(size) {
            let Some(time) = SendingTime::of(size, self.rate) else {
                return self.departs_after_long_division(start, size, surplus);
            };
            self.last = time;
        }
        let (nanos, surplus) = self.last.after(surplus, self.rate);
        self.surplus = surplus;
        self.now = start + Duration::from_nanos(nanos);
        self.now
    }

    fn departs_after_long_division(&mut self, start: Timestamp, size: Bytes, surplus: u64) -> Timestamp {
        let rate = self.rate.as_bps();
        let missing = u128::from(size.get()) * u128::from(8 * NANOS_PER_SECOND) - u128::from(surplus);
        let nanos = u64::try_from(missing.div_ceil(rate.into())).unwrap_or(u64::MAX);
        self.surplus = rest(nanos, rate, missing);
        self.now = start + Duration::from_nanos(nanos);
        self.now
    }

    /// Returns the departure time of the last packet.
    #[inline]
    pub const fn free_at(&self) -> Timestamp {
        self.now
    }

    /// Returns the bits offered from the end of the last query to `until`; `None` if unlimited.
    pub(crate) fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        if self.rate == Rate::UNLIMITED {
            return None;
        }
        let passed = u128::from(self.rate.as_bps()) * u128::from(until.since(self.now).as_nanos());
        self.now = self.now.max(until);
        Some(passed as f64 / NANOS_PER_SECOND as f64)
    }

    /// Returns the rate.
    pub(crate) const fn rate(&self) -> Rate {
        self.rate
    }
}

/// Returns the surplus after `missing` was sent in whole nanoseconds: less than `rate`, so it fits.
fn rest(nanos: u64, rate: u64, missing: u128) -> u64 {
    (u128::from(nanos) * u128::from(rate)).saturating_sub(missing) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Piecewise, Schedule, ScheduleEnd, Step};
    use alloc::sync::Arc;
    use proptest::prelude::*;

    #[test]
    fn transmission_takes_no_time_without_a_limit() {
        let mut process = SteadyRate::new(Rate::UNLIMITED);
        for (start, size) in [(0, 1500), (0, 1500), (7, u64::MAX), (9, 40)] {
            let start = Timestamp::from_nanos(start);
            let transmission = Transmission { start, size: Bytes::new(size), continues: true };
            assert_eq!(process.departs(&transmission), start);
        }
    }

    proptest! {
        /// Comparison with the same rate as the only step of a schedule.
        #[test]
        fn agrees_with_a_schedule_of_one_step(
            bps in prop_oneof![1_u64..1000, 1_000_000_u64..10_000_000_000],
            packets in prop::collection::vec((0_u64..3_000_000, prop_oneof![0_u64..3, 40_u64..9000, Just(1500), 3_000_000_000_u64..4_000_000_000], any::<bool>()), 0..60),
        ) {
            let rate = Rate::from_bps(bps);
            let steps: Arc<[Step]> = Arc::new([Step { start: Duration::ZERO, rate }]);
            let mut schedule = Piecewise::new(Schedule::new(steps, ScheduleEnd::Hold).unwrap());
            let (mut meter, mut steady) = (SteadyRate::new(rate), SteadyRate::new(rate));
            let mut schedule_meter = schedule.clone();
            let mut free = Timestamp::ZERO;
            for (pause, size, continues) in packets {
                let start = if continues { free } else { free + Duration::from_nanos(pause) };
                let transmission = Transmission { start, size: Bytes::new(size), continues };
                free = steady.departs(&transmission);
                prop_assert_eq!(free, schedule.departs(&transmission));
                let offered = meter.offered_bits(free);
                prop_assert_eq!(offered, Some(schedule_meter.offered_bits(free)));
            }
        }
    }
}
