//! Times and sizes of datagrams of sources without feedback.

use airpath_model::{Bytes, Duration, RandomStream, Rate, Timestamp};

use crate::plan::Draw;

/// One datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The index within the flow: 0, 1, ….
    pub sequence: u64,
    /// Size on the wire, bytes.
    pub size: u32,
}

/// The time from one datagram to the next: whole nanoseconds and a remainder.
///
/// A datagram leaves when a fluid source would have sent everything before it, rounded up to a whole
/// nanosecond. Rounding errors do not accumulate, so the rate is exact in the long run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spacing {
    nanos: u64,
    /// The remainder, in bits times 10⁹, less than `rate`.
    rest: u64,
    /// Bit/s: the value of one nanosecond.
    rate: u64,
    /// The data that could have been sent since the fluid instant of the last datagram, less than `rate`.
    surplus: u64,
}

impl Spacing {
    /// Creates the spacing of datagrams of `size` at that rate: at least a nanosecond, and less than 150
    /// years at one bit/s.
    pub(crate) fn new(rate: Rate, size: Bytes) -> Self {
        // A size is at most 16 MB.
        let (needed, rate) = (size.get().saturating_mul(8_000_000_000), rate.as_bps().max(1));
        Self { nanos: needed / rate, rest: needed % rate, rate, surplus: 0 }
    }

    /// Starts a period: the datagram after this one is its first.
    fn begin(&mut self) {
        self.surplus = 0;
    }

    /// Returns the time to the next datagram.
    fn next(&mut self) -> Duration {
        if self.rest > self.surplus {
            self.surplus += self.rate - self.rest;
            return Duration::from_nanos(self.nanos + 1);
        }
        self.surplus -= self.rest;
        Duration::from_nanos(self.nanos)
    }
}

/// Departure times and sizes of datagrams.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// Evenly spaced while on.
    ConstantBitRate {
        /// Time from one datagram to the next.
        spacing: Spacing,
        /// Size on the wire.
        size: u32,
        /// Lengths of on and off periods; always on if absent.
        periods: Option<(Draw, Draw)>,
    },
    /// A Poisson process.
    Poisson {
        /// Mean rate on the wire.
        rate: Rate,
        /// Size on the wire.
        size: Draw,
        /// The mean size, which determines the mean spacing.
        mean_size: f64,
    },
}

/// The datagrams of one flow.
#[derive(Debug)]
pub struct Datagrams {
    pattern: Pattern,
    stream: RandomStream,
    next: Timestamp,
    on_until: Timestamp,
    start: Timestamp,
    stop: Timestamp,
    sent: u64,
}

impl Datagrams {
    /// Creates a source that sends from `start` (after a first off period if `start_off`) to `stop`.
    pub(crate) fn new(
        pattern: Pattern,
        mut stream: RandomStream,
        start: Timestamp,
        stop: Timestamp,
        start_off: bool,
    ) -> Self {
        let (mut next, mut on_until) = (start, Timestamp::NEVER);
        match &pattern {
            Pattern::ConstantBitRate { periods: Some((on, off)), .. } => {
                if start_off {
                    next += off.duration(&mut stream);
                }
                on_until = next + period(*on, &mut stream);
            }
            Pattern::ConstantBitRate { periods: None, .. } => {}
            Pattern::Poisson { rate, mean_size, .. } => {
                next += stream.exponential_duration(mean_spacing(*rate, *mean_size));
            }
        }
        Self { pattern, stream, next, on_until, start, stop, sent: 0 }
    }

    /// Returns the next datagram that is due at `now`; the caller repeats the call until it returns `None`. A
    /// caller in real time may be late: a datagram that was due before the stop is returned even after the
    /// stop.
    pub fn poll(&mut self, now: Timestamp) -> Option<Datagram> {
        if self.next_event() > now {
            return None;
        }
        let size = match &mut self.pattern {
            Pattern::ConstantBitRate { size, spacing, periods } => {
                self.next += spacing.next();
                if let Some((on, off)) = periods
                    && self.next >= self.on_until
                {
                    // A new period begins with a datagram, regardless of the remainder of the last spacing.
                    self.next = self.on_until + off.duration(&mut self.stream);
                    self.on_until = self.next + period(*on, &mut self.stream);
                    spacing.begin();
                }
                *size
            }
            Pattern::Poisson { rate, size, mean_size } => {
                let spacing = mean_spacing(*rate, *mean_size);
                self.next += self.stream.exponential_duration(spacing);
                size.at_least_one(&mut self.stream) as u32
            }
        };
        let sequence = self.sent;
        self.sent += 1;
        Some(Datagram { sequence, size })
    }

    /// Returns the time of the next datagram.
    pub fn next_event(&self) -> Timestamp {
        if self.next < self.stop { self.next } else { Timestamp::NEVER }
    }

    /// Stops sending.
    pub fn stop(&mut self) {
        self.stop = Timestamp::ZERO;
    }

    /// Returns whether `now` is between start and stop.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.start <= now && now < self.stop
    }

    /// Returns the number of datagrams sent so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }
}

/// Returns the length of an on period. It is greater than zero, because time would not advance without off
/// periods otherwise.
fn period(on: Draw, stream: &mut RandomStream) -> Duration {
    on.duration(stream).max(Duration::from_nanos(1))
}

/// Returns the mean time between datagrams of a Poisson source.
fn mean_spacing(rate: Rate, mean_size: f64) -> Duration {
    Duration::from_secs_f64(mean_size * 8.0 / rate.as_bps_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spacing(bps: u64, size: u64) -> Spacing {
        Spacing::new(Rate::from_bps(bps), Bytes::new(size))
    }

    /// Returns the instants at which the first datagrams leave, nanoseconds.
    fn instants(bps: u64, size: u64, count: usize) -> Vec<u64> {
        let pattern =
            Pattern::ConstantBitRate { spacing: spacing(bps, size), size: size as u32, periods: None };
        let stream = RandomStream::new(1, "test");
        let mut datagrams = Datagrams::new(pattern, stream, Timestamp::ZERO, Timestamp::NEVER, false);
        let next = |_| {
            let at = datagrams.next_event();
            datagrams.poll(at).map(|_| at.as_nanos())
        };
        (0..count).filter_map(next).collect()
    }

    #[test]
    fn the_rate_is_exact_in_the_long_run() {
        // 64 bytes at 40 Gbit/s: one every 12.8 ns.
        let at = instants(40_000_000_000, 64, 1_000_001);
        assert_eq!(at[..6], [0, 13, 26, 39, 52, 64]);
        assert_eq!(at[1_000_000], 12_800_000);
        let thirds = instants(3_000_000_000, 500, 30_001);
        assert_eq!((thirds[1], thirds[2], thirds[3], thirds[30_000]), (1334, 2667, 4000, 40_000_000));
    }

    #[test]
    fn whole_nanoseconds_are_unchanged() {
        assert_eq!(instants(2_000_000, 1000, 4), [0, 4_000_000, 8_000_000, 12_000_000]);
    }

    #[test]
    fn periods_without_datagrams_do_not_block() {
        let nothing = Draw::Constant { value: 0.2 };
        let periods = Some((nothing, Draw::Constant { value: 0.0 }));
        let pattern = Pattern::ConstantBitRate { spacing: spacing(2_000_000, 1000), size: 1000, periods };
        let stream = RandomStream::new(1, "test");
        let mut datagrams = Datagrams::new(pattern, stream, Timestamp::ZERO, Timestamp::NEVER, false);
        let now = Timestamp::from_nanos(100);
        assert!((0..200).filter_map(|_| datagrams.poll(now)).count() <= 101);
    }

    #[test]
    fn a_datagram_due_before_the_stop_is_sent_after_it() {
        let at = |millis: u64| Timestamp::from_nanos(millis * 1_000_000);
        let pattern =
            Pattern::ConstantBitRate { spacing: spacing(2_000_000, 1000), size: 1000, periods: None };
        let mut datagrams = Datagrams::new(pattern, RandomStream::new(1, "test"), at(0), at(10), false);
        assert!(datagrams.poll(at(0)).is_some() && datagrams.poll(at(4)).is_some());
        assert_eq!(datagrams.next_event(), at(8));
        // A thread that sends in real time may be late.
        assert!(datagrams.poll(at(15)).is_some());
        assert_eq!(datagrams.poll(at(15)), None);
        assert_eq!(datagrams.next_event(), Timestamp::NEVER);
        assert_eq!(datagrams.sent(), 3);
        datagrams.stop();
        assert_eq!(datagrams.poll(at(15)), None);
    }
}
