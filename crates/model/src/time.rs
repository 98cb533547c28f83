//! Simulated or measured time, in whole nanoseconds.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant: nanoseconds since the start of the run.
///
/// Range: 0 to about 584 years. [`Timestamp::NEVER`] is the largest value and means "not scheduled";
/// arithmetic saturates there, so an instant after `NEVER` is `NEVER`.
///
/// Stored as nanoseconds + 1, so that `Option<Timestamp>` has the same size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(NonZeroU64);

/// A span of time: whole nanoseconds, never negative. Arithmetic saturates at both ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Timestamp {
    /// The start of the run.
    pub const ZERO: Self = Self(NonZeroU64::MIN);
    /// Later than every possible instant.
    pub const NEVER: Self = Self(NonZeroU64::MAX);

    /// Returns the instant `nanos` nanoseconds after the start of the run; the two largest values give
    /// [`Timestamp::NEVER`].
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(Self::ZERO.0.saturating_add(nanos))
    }

    /// Returns the instant `seconds` after the start of the run, to the nearest nanosecond; negative values
    /// and NaN give zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self::from_nanos(Duration::from_secs_f64(seconds).0)
    }

    /// Returns the nanoseconds since the start of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns the seconds since the start of the run.
    pub fn as_secs_f64(self) -> f64 {
        self.as_nanos() as f64 / 1e9
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.get().saturating_sub(earlier.0.get()))
    }

    /// Returns whether this instant is possible, that is, not [`Timestamp::NEVER`].
    pub const fn is_scheduled(self) -> bool {
        self.0.get() != u64::MAX
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span; adding it to any instant gives [`Timestamp::NEVER`].
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a span of whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates a span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Creates a span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Creates a span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// Creates a span in seconds, to the nearest nanosecond. Negative values and NaN give zero; values that
    /// are too large give the maximum.
    pub fn from_secs_f64(seconds: f64) -> Self {
        // A float-to-integer `as` saturates at both ends and maps NaN to 0.
        Self((seconds * 1e9 + 0.5) as u64)
    }

    /// Returns the span in whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns whether the span is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Multiplies the span by a non-negative factor and rounds to the nearest nanosecond.
    #[must_use]
    pub fn mul_f64(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor + 0.5) as u64)
    }

    /// Returns the ratio of this span to another; infinite if the other is zero.
    pub fn ratio(self, other: Self) -> f64 {
        self.0 as f64 / other.0 as f64
    }

    /// Returns the absolute difference of two spans.
    #[must_use]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Timestamp {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self::from_nanos(self.as_nanos().saturating_sub(span.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    /// Rounds down; `divisor` must not be zero.
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_scheduled() { write!(f, "{:?}", self.since(Self::ZERO)) } else { f.write_str("never") }
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_absorbs_every_span() {
        assert_eq!(Timestamp::NEVER + Duration::from_secs(1), Timestamp::NEVER);
        assert_eq!(Timestamp::ZERO + Duration::MAX, Timestamp::NEVER);
        assert!(!Timestamp::NEVER.is_scheduled());
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(1.000_000_000_6).as_nanos(), 1_000_000_001);
        assert_eq!(Duration::from_secs_f64(1.000_000_000_4).as_nanos(), 1_000_000_000);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::INFINITY), Duration::MAX);
    }

    #[test]
    fn differences_saturate_at_zero() {
        let (early, late) = (Timestamp::from_nanos(5), Timestamp::from_nanos(9));
        assert_eq!(late.since(early).as_nanos(), 4);
        assert_eq!(early.since(late), Duration::ZERO);
    }

    #[test]
    fn units_of_spans_match_their_names() {
        let span = Duration::from_millis(250);
        assert!((span.as_secs_f64() - 0.25).abs() < 1e-15);
        assert!((Timestamp::from_nanos(1_500_000_000).as_secs_f64() - 1.5).abs() < 1e-15);
        assert!((span.ratio(Duration::from_secs(1)) - 0.25).abs() < 1e-15);
        for (factor, nanos) in [(0.34, 34), (0.344, 34), (0.346, 35)] {
            assert_eq!(Duration::from_nanos(100).mul_f64(factor).as_nanos(), nanos, "{factor}");
        }
        assert_eq!((Duration::from_nanos(11) / 4).as_nanos(), 2);
    }

    #[test]
    fn spans_add_up_in_place() {
        let (mut at, mut span) = (Timestamp::from_nanos(5), Duration::from_nanos(3));
        at += span;
        assert_eq!(at.as_nanos(), 8);
        span += Duration::from_nanos(4);
        assert_eq!(span.as_nanos(), 7);
        span -= Duration::from_nanos(2);
        assert_eq!(span.as_nanos(), 5);
        span -= Duration::from_nanos(9);
        assert_eq!(span, Duration::ZERO);
    }
}
