//! Transmission at a piecewise constant rate.

use core::fmt::Debug;

use airpath_model::{Bytes, Duration, Rate, Timestamp, Transmission};

use crate::sending_time::{NANOS_PER_SECOND, SendingTime};

/// A segment of time with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The rate; zero is an outage.
    pub rate: Rate,
    /// End of the segment and start of the next; [`Timestamp::NEVER`] for the last.
    pub until: Timestamp,
}

/// A rate over time as consecutive segments from the start of the run.
pub trait RateSegments: Clone + Debug + Send {
    /// Returns the next segment, which starts at the end of the previous one and ends later than that; `None`
    /// if nothing is ever sent any more.
    fn next_segment(&mut self) -> Option<Segment>;
}

/// A transmitter with a piecewise constant rate.
///
/// The computation is in integers: if the rate changes during the transmission of a packet, the remainder is
/// sent at the new rate. Packets sent without a pause leave at the instants at which a fluid link would have
/// finished them, each rounded up to a whole nanosecond; rounding errors do not accumulate.
#[derive(Clone, Debug)]
pub struct Piecewise<S> {
    segments: S,
    /// The segment that contains `now`, or ends there.
    segment: Segment,
    now: Timestamp,
    /// The bits that the link could have sent between the fluid end of the last packet and `now`: less than a
    /// nanosecond's worth.
    surplus: BitNanos,
    /// The sending time of the last packet size within this segment.
    last: SendingTime,
    /// End of the run; later times are not queried.
    end: Timestamp,
}

/// Bits times 10⁹: rate in bit/s times nanoseconds, without a fraction. The largest rate (64 bits) times the
/// longest time (64 bits) fits.
type BitNanos = u128;

impl<S: RateSegments> Piecewise<S> {
    /// Creates a transmitter with the rates of `segments`.
    pub fn new(mut segments: S) -> Self {
        let segment = segments.next_segment().unwrap_or(SILENCE);
        Self {
            segments,
            segment,
            now: Timestamp::ZERO,
            surplus: 0,
            last: SendingTime::NONE,
            end: Timestamp::NEVER,
        }
    }

    /// Returns the transmitter for a run that ends at `end`: a packet that has not left 100 000 segments
    /// later never does. Computing its departure could take hours if the rate is low and changes often.
    #[must_use]
    pub fn until(self, end: Timestamp) -> Self {
        Self { end, ..self }
    }

    /// Returns the time at which the last bit of a packet has left; [`Timestamp::NEVER`] if the rate stays
    /// zero before.
    pub fn departs(&mut self, transmission: &Transmission) -> Timestamp {
        if !(transmission.continues && transmission.start == self.now) {
            self.surplus = 0;
        }
        self.pass(transmission.start);
        self.departs_within_segment(transmission.size)
            .unwrap_or_else(|| self.departs_across_segments(transmission.size))
    }

    /// Returns the time at which the last bit of a packet that starts now has left.
    fn departs_across_segments(&mut self, size: Bytes) -> Timestamp {
        let needed = BitNanos::from(size.get()) * BitNanos::from(8 * NANOS_PER_SECOND);
        let mut missing = needed.saturating_sub(self.surplus);
        self.surplus = self.surplus.saturating_sub(needed);
        let mut late = 0;
        while missing > 0 {
            let capacity = self.capacity(self.segment.until);
            if capacity >= missing {
                let rate = BitNanos::from(self.segment.rate.as_bps());
                let nanos = missing.div_ceil(rate);
                self.surplus = nanos * rate - missing;
                // At most the length of the segment, so it fits.
                self.now = Timestamp::from_nanos(self.now.as_nanos() + nanos as u64);
                return self.now;
            }
            missing -= capacity;
            self.now = self.segment.until;
            if !self.now.is_scheduled() {
                return Timestamp::NEVER;
            }
            late += u32::from(self.now > self.end);
            if late > FEW {
                return Timestamp::NEVER;
            }
            self.next_segment();
        }
        self.now
    }

    /// Returns the departure time for most packets: those that end in this segment, and have the size of the
    /// last one.
    fn departs_within_segment(&mut self, size: Bytes) -> Option<Timestamp> {
        let rate = self.segment.rate;
        if rate == Rate::ZERO {
            return None;
        }
        if !self.last.is_of(size) {
            self.last = SendingTime::of(size, rate)?;
        }
        // The surplus of a faster segment was used up by the packet that crossed into this one.
        let surplus = u64::try_from(self.surplus).ok()?;
        debug_assert!(surplus < rate.as_bps());
        let (nanos, surplus) = self.last.after(surplus, rate);
        if nanos > self.segment.until.since(self.now).as_nanos() {
            return None;
        }
        self.surplus = surplus.into();
        self.now += Duration::from_nanos(nanos);
        Some(self.now)
    }

    /// Returns the integral of the rate from the end of the last query to `until`, in bits.
    pub fn offered_bits(&mut self, until: Timestamp) -> f64 {
        self.pass(until) as f64 / NANOS_PER_SECOND as f64
    }

    /// Returns the rate that applies from `now` on.
    pub fn rate_at(&mut self, now: Timestamp) -> Rate {
        self.pass(now);
        if self.segment.until == now && now.is_scheduled() {
            self.next_segment();
        }
        self.segment.rate
    }

    /// Advances the time to `until` and returns the bits that could have been sent.
    fn pass(&mut self, until: Timestamp) -> BitNanos {
        let mut passed = 0;
        while self.segment.until < until {
            passed += self.capacity(self.segment.until);
            self.now = self.segment.until;
            self.next_segment();
        }
        passed += self.capacity(until);
        self.now = self.now.max(until);
        passed
    }

    /// Returns the bits that can be sent from now to `until`, within the segment.
    fn capacity(&self, until: Timestamp) -> BitNanos {
        BitNanos::from(self.segment.rate.as_bps()) * BitNanos::from(until.since(self.now).as_nanos())
    }

    fn next_segment(&mut self) {
        self.segment = self.segments.next_segment().unwrap_or(SILENCE);
        self.last = SendingTime::NONE;
    }
}

/// Number of segments after the end that are still examined, in some milliseconds: a caller that continues a
/// little longer gets unchanged results.
const FEW: u32 = 100_000;

const SILENCE: Segment = Segment { rate: Rate::ZERO, until: Timestamp::NEVER };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Schedule, ScheduleEnd, Step};
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn rate() -> impl Strategy<Value = u64> {
        prop_oneof![
            0_u64..3,
            1_u64..1000,
            1_000_000_u64..100_000_000,
            1_000_000_000_u64..40_000_000_000,
            Just(8_000_000_000)
        ]
    }

    /// Returns segment lengths in nanoseconds: few, so that packets end at segment boundaries, or many.
    fn length() -> impl Strategy<Value = u64> {
        prop_oneof![1_u64..40, 1_u64..3_000_000]
    }

    fn size() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..10, Just(40), Just(1500), 40_u64..9000]
    }

    #[test]
    fn remaining_capacity_of_a_faster_segment_is_used_in_the_next() {
        let steps = [(0, 24_000_000_000), (1, 10_000_000_000)]
            .map(|(start, bps)| Step { start: Duration::from_nanos(start), rate: Rate::from_bps(bps) });
        let mut process = Piecewise::new(Schedule::new(Arc::new(steps), ScheduleEnd::Hold).unwrap());
        let mut free = Timestamp::ZERO;
        // One byte in a third of a nanosecond leaves 16 bits. Of the next 24 bits 8 are missing, which take one of 10 bits.
        for (size, departs) in [(1, 1), (3, 2)] {
            free = process.departs(&Transmission { start: free, size: Bytes::new(size), continues: true });
            assert_eq!(free.as_nanos(), departs);
        }
    }

    /// Returns a schedule of two rates in bit/s that alternate every microsecond.
    fn in_turn(rates: [u64; 2]) -> Schedule {
        let mut start = Duration::ZERO;
        let steps = rates.map(|bps| {
            let step = Step { start, rate: Rate::from_bps(bps) };
            start += Duration::from_nanos(1000);
            step
        });
        Schedule::new(Arc::new(steps), ScheduleEnd::RepeatAfter(start)).unwrap()
    }

    /// Computing segment by segment would take hours.
    #[test]
    fn a_packet_that_cannot_depart_before_the_end_never_departs() {
        let mut process = Piecewise::new(in_turn([3, 5])).until(Timestamp::from_nanos(3_000_000));
        let mut send = |size| {
            let start = Timestamp::from_nanos(2_500_000);
            process.departs(&Transmission { start, size: Bytes::new(size), continues: false })
        };
        assert_eq!(send(1_000_000_000), Timestamp::NEVER);
    }

    #[test]
    fn a_packet_that_departs_shortly_after_the_end_is_unaffected() {
        let schedule = in_turn([3_000_000, 5_000_000]);
        let one = Transmission { start: Timestamp::ZERO, size: Bytes::new(5000), continues: false };
        let exact = Piecewise::new(schedule.clone()).departs(&one);
        assert_eq!(exact.as_nanos(), 10_000_000);
        assert_eq!(Piecewise::new(schedule).until(Timestamp::from_nanos(3_000_000)).departs(&one), exact);
    }

    proptest! {
        /// Comparison with a computation segment by segment in 128 bits, whether or not packets end within a
        /// segment.
        #[test]
        fn departures_within_a_segment_equal_those_across_segments(
            rates in prop::collection::vec((length(), rate()), 1..20),
            packets in prop::collection::vec((0_u64..300_000, size(), prop::bool::weighted(0.8)), 0..80),
        ) {
            // At least ten bits in each segment on average: otherwise a packet crosses millions of segments.
            let bit_nanos: u128 = rates.iter().map(|&(length, bps)| u128::from(length) * u128::from(bps)).sum();
            prop_assume!(bit_nanos >= 10_000_000_000 * rates.len() as u128);
            let mut start = Duration::ZERO;
            let steps: Vec<_> = rates.iter().map(|&(length, bps)| {
                let step = Step { start, rate: Rate::from_bps(bps) };
                start += Duration::from_nanos(length);
                step
            }).collect();
            let steps: Arc<[Step]> = steps.into();
            let mut process = Piecewise::new(Schedule::new(steps, ScheduleEnd::RepeatAfter(start)).unwrap());
            let mut free = Timestamp::ZERO;
            for (pause, size, continues) in packets {
                let start = if continues { free } else { free + Duration::from_nanos(pause) };
                let mut across = process.clone();
                free = process.departs(&Transmission { start, size: Bytes::new(size), continues });
                if !(continues && start == across.now) {
                    across.surplus = 0;
                }
                across.pass(start);
                prop_assert_eq!(across.departs_across_segments(Bytes::new(size)), free);
                prop_assert_eq!((across.now, across.surplus), (process.now, process.surplus));
            }
        }
    }
}
