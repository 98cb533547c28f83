//! Sending at one rate forever.

use airpath_model::{Bytes, Duration, Rate, Timestamp, Transmission};

/// Sends bits at one rate, or without taking time. The same account as [`crate::Piecewise`] keeps, in less memory and
/// fewer steps: packets sent without a pause leave at the instants at which a fluid link would have finished them, each
/// rounded up to a whole nanosecond, and rounding does not add up.
#[derive(Clone, Debug)]
pub struct SteadyRate {
    rate: Rate,
    now: Timestamp,
    /// What the link could have sent between the fluid end of the last packet and `now`, in bits times 10⁹: less than a
    /// nanosecond's worth.
    surplus: u64,
    /// How long the last size took: packets mostly have one size, and divisions are slow.
    last: Division,
}

/// What a packet of one size needs, divided by the rate.
#[derive(Clone, Copy, Debug)]
struct Division {
    /// The size.
    size: Bytes,
    /// Whole nanoseconds.
    nanos: u64,
    /// Bits times 10⁹.
    rest: u64,
}

impl SteadyRate {
    /// Sends at `rate`, which is not zero.
    pub(crate) const fn new(rate: Rate) -> Self {
        let last = Division { size: Bytes::ZERO, nanos: 0, rest: 0 };
        Self { rate, now: Timestamp::ZERO, surplus: 0, last }
    }

    /// When the last bit of a packet has left; [`Timestamp::NEVER`] when it does not leave.
    #[inline]
    pub fn departs(&mut self, transmission: &Transmission) -> Timestamp {
        let Transmission { start, size, continues } = *transmission;
        if !start.is_scheduled() {
            return start;
        }
        let goes_on = continues && start == self.now;
        let surplus = if goes_on { self.surplus } else { 0 };
        let start = self.now.max(start);
        if size != self.last.size && !self.divide(size) {
            return self.departs_after_long_division(start, size, surplus);
        }
        let Division { nanos, rest, .. } = self.last;
        // The surplus is less than a nanosecond's worth, so at most it is as if a packet left in no time.
        let one_more = rest > surplus;
        self.surplus = if one_more { self.rate.as_bps() - (rest - surplus) } else { surplus - rest };
        self.now = start + Duration::from_nanos(nanos + u64::from(one_more));
        self.now
    }

    /// Finds how long packets of a size take, unless 64 bits are too few for it: they hold up to 2.3 GB and divide several times faster
    /// than 128.
    fn divide(&mut self, size: Bytes) -> bool {
        let rate = self.rate.as_bps();
        let (nanos, rest) = match size.get().checked_mul(8 * NANOS_PER_SECOND) {
            _ if self.rate == Rate::UNLIMITED => (0, 0),
            Some(needed) => (needed / rate, needed % rate),
            None => return false,
        };
        self.last = Division { size, nanos, rest };
        true
    }

    fn departs_after_long_division(&mut self, start: Timestamp, size: Bytes, surplus: u64) -> Timestamp {
        let rate = self.rate.as_bps();
        let missing = u128::from(size.get()) * u128::from(8 * NANOS_PER_SECOND) - u128::from(surplus);
        let nanos = u64::try_from(missing.div_ceil(rate.into())).unwrap_or(u64::MAX);
        self.surplus = rest(nanos, rate, missing);
        self.now = start + Duration::from_nanos(nanos);
        self.now
    }

    /// When the last packet that leaves has left.
    #[inline]
    pub const fn free_at(&self) -> Timestamp {
        self.now
    }

    /// The bits offered from the end of the last question to `until`; `None` when unlimited.
    pub(crate) fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        if self.rate == Rate::UNLIMITED {
            return None;
        }
        let passed = u128::from(self.rate.as_bps()) * u128::from(until.since(self.now).as_nanos());
        self.now = self.now.max(until);
        Some(passed as f64 / NANOS_PER_SECOND as f64)
    }

    /// The rate.
    pub(crate) const fn rate(&self) -> Rate {
        self.rate
    }
}

/// What is left over when `missing` was sent in whole nanoseconds: less than `rate`, so it fits.
fn rest(nanos: u64, rate: u64, missing: u128) -> u64 {
    (u128::from(nanos) * u128::from(rate)).saturating_sub(missing) as u64
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Piecewise, Schedule, ScheduleEnd, Step};
    use alloc::sync::Arc;
    use proptest::prelude::*;

    proptest! {
        /// Against the same rate as the only step of a schedule.
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
