//! Sending at a rate that is constant over intervals.

use core::fmt::Debug;

use airpath_model::{Rate, Timestamp, Transmission};

/// A stretch of time with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The rate; zero is an outage.
    pub rate: Rate,
    /// Where it ends and the next segment starts; [`Timestamp::NEVER`] for the last.
    pub until: Timestamp,
}

/// A rate over time, one segment after the other from the start of the run.
pub trait RateSegments: Clone + Debug + Send {
    /// The next segment, which starts where the last one ended and ends later than that; `None` when nothing is
    /// ever sent any more.
    fn next_segment(&mut self) -> Option<Segment>;
}

/// Sends bits at a piecewise constant rate.
///
/// The account is kept in integers: a packet that is being sent when the rate changes finishes what remains at the
/// new rate, and packets sent without a pause leave at the instants at which a fluid link would have finished
/// them, each rounded up to a whole nanosecond; rounding does not add up.
#[derive(Clone, Debug)]
pub struct Piecewise<S> {
    segments: S,
    /// The segment that holds `now`, or ends there.
    segment: Segment,
    now: Timestamp,
    /// What the link could have sent between the fluid end of the last packet and `now`: less than a nanosecond's
    /// worth.
    surplus: BitNanos,
}

/// Bits times 10⁹: rate in bit/s times nanoseconds, without a fraction. The largest rate (64 bits) times the
/// longest time (64 bits) fits.
type BitNanos = u128;

impl<S: RateSegments> Piecewise<S> {
    /// Sends at the rates that `segments` gives.
    pub fn new(mut segments: S) -> Self {
        let segment = segments.next_segment().unwrap_or(SILENCE);
        Self { segments, segment, now: Timestamp::ZERO, surplus: 0 }
    }

    /// When the last bit of a packet has left; [`Timestamp::NEVER`] when the rate stays zero before.
    pub fn departs(&mut self, transmission: &Transmission) -> Timestamp {
        if !(transmission.continues && transmission.start == self.now) {
            self.surplus = 0;
        }
        self.pass(transmission.start);
        let needed = BitNanos::from(transmission.size.get()) * 8 * NANOS_PER_SECOND;
        let mut missing = needed.saturating_sub(self.surplus);
        self.surplus = self.surplus.saturating_sub(needed);
        while missing > 0 {
            let capacity = self.capacity(self.segment.until);
            if capacity >= missing {
                let nanos = self.time_for(missing);
                self.surplus = nanos * BitNanos::from(self.segment.rate.as_bps()) - missing;
                // Not longer than the segment, so it fits.
                self.now = Timestamp::from_nanos(self.now.as_nanos() + nanos as u64);
                return self.now;
            }
            missing -= capacity;
            self.now = self.segment.until;
            if !self.now.is_scheduled() {
                return Timestamp::NEVER;
            }
            self.next_segment();
        }
        self.now
    }

    /// The integral of the rate from the end of the last question to `until`, in bits.
    pub fn offered_bits(&mut self, until: Timestamp) -> f64 {
        self.pass(until) as f64 / NANOS_PER_SECOND as f64
    }

    /// The rate that holds from `now` on.
    pub fn rate_at(&mut self, now: Timestamp) -> Rate {
        self.pass(now);
        if self.segment.until == now && now.is_scheduled() {
            self.next_segment();
        }
        self.segment.rate
    }

    /// Lets time pass up to `until` and returns what could have been sent.
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

    /// What can be sent from now to `until`, within the segment.
    fn capacity(&self, until: Timestamp) -> BitNanos {
        BitNanos::from(self.segment.rate.as_bps()) * BitNanos::from(until.since(self.now).as_nanos())
    }

    /// How long `missing` takes at the rate of the segment, in whole nanoseconds, rounded up.
    fn time_for(&self, missing: BitNanos) -> BitNanos {
        let rate = self.segment.rate.as_bps();
        match u64::try_from(missing) {
            // 64 bits hold up to 2.3 GB and divide several times faster.
            Ok(missing) => missing.div_ceil(rate).into(),
            Err(_) => missing.div_ceil(rate.into()),
        }
    }

    fn next_segment(&mut self) {
        self.segment = self.segments.next_segment().unwrap_or(SILENCE);
    }
}

const NANOS_PER_SECOND: BitNanos = 1_000_000_000;

const SILENCE: Segment = Segment { rate: Rate::ZERO, until: Timestamp::NEVER };
