//! Data rates.

use core::fmt;

use crate::{Bytes, Duration};

/// A data rate in bits per second.
///
/// [`Rate::ZERO`] is an outage: nothing is ever sent. At [`Rate::UNLIMITED`], every transmission takes zero
/// time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// An outage.
    pub const ZERO: Self = Self(0);
    /// No limit: every transmission takes zero time.
    pub const UNLIMITED: Self = Self(u64::MAX);

    /// Creates a rate of `bits_per_second`.
    pub const fn from_bps(bits_per_second: u64) -> Self {
        Self(bits_per_second)
    }

    /// Returns the whole rate nearest to `bits_per_second`. Negative values and NaN give zero.
    pub fn from_bps_f64(bits_per_second: f64) -> Self {
        Self((bits_per_second + 0.5) as u64)
    }

    /// Returns the mean rate of `amount` over `interval`, rounded down; unlimited if the interval is zero.
    pub fn over(amount: Bytes, interval: Duration) -> Self {
        if interval.is_zero() {
            return Self::UNLIMITED;
        }
        let bits = u128::from(amount.get()) * 8 * 1_000_000_000;
        Self(u64::try_from(bits / u128::from(interval.as_nanos())).unwrap_or(u64::MAX))
    }

    /// Returns the rate in bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the rate in bits per second as a float.
    pub fn as_bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// Returns the rate in bytes per second.
    pub fn bytes_per_second(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// Returns the transmission time of `amount` at this rate, rounded **up** to a whole nanosecond, so that
    /// a link never exceeds its rate. Zero if unlimited; [`Duration::MAX`] in an outage (unless there is
    /// nothing to send).
    pub fn time_for(self, amount: Bytes) -> Duration {
        match self.0 {
            u64::MAX => Duration::ZERO,
            0 if amount.is_zero() => Duration::ZERO,
            0 => Duration::MAX,
            rate => {
                // 64 bits suffice up to 2.3 GB and divide faster than 128.
                let nanos = if let Some(bits) = amount.get().checked_mul(8_000_000_000) {
                    bits.div_ceil(rate)
                } else {
                    let bits = u128::from(amount.get()) * 8_000_000_000;
                    u64::try_from(bits.div_ceil(u128::from(rate))).unwrap_or(u64::MAX)
                };
                Duration::from_nanos(nanos)
            }
        }
    }

    /// Returns the amount that fits into `interval` at this rate, rounded **down** to whole bytes.
    pub fn bytes_in(self, interval: Duration) -> Bytes {
        if self == Self::UNLIMITED {
            return if interval.is_zero() { Bytes::ZERO } else { Bytes::MAX };
        }
        let bits = u128::from(self.0) * u128::from(interval.as_nanos()) / 1_000_000_000;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }

    /// Multiplies the rate by a non-negative factor and rounds to the nearest bit per second. Unlimited stays
    /// unlimited.
    #[must_use]
    pub fn mul_f64(self, factor: f64) -> Self {
        if self == Self::UNLIMITED { self } else { Self::from_bps_f64(self.0 as f64 * factor) }
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::UNLIMITED { f.write_str("unlimited") } else { write!(f, "{}bps", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_its_bits_over_the_rate() {
        assert_eq!(Rate::from_bps(100_000_000).time_for(Bytes::new(1500)), Duration::from_micros(120));
        assert_eq!(Rate::from_bps(3).time_for(Bytes::new(1)).as_nanos(), 2_666_666_667);
    }

    #[test]
    fn the_bounds_of_the_range_are_defined() {
        assert_eq!(Rate::UNLIMITED.time_for(Bytes::MAX), Duration::ZERO);
        assert_eq!(Rate::ZERO.time_for(Bytes::new(1)), Duration::MAX);
        assert_eq!(Rate::ZERO.time_for(Bytes::ZERO), Duration::ZERO);
        assert_eq!(Rate::over(Bytes::new(1), Duration::ZERO), Rate::UNLIMITED);
        assert_eq!(Rate::from_bps(1).time_for(Bytes::MAX), Duration::MAX);
    }

    #[test]
    fn amounts_round_down() {
        assert_eq!(Rate::from_bps(12_000_000).bytes_in(Duration::from_millis(1)), Bytes::new(1500));
        assert_eq!(Rate::from_bps(12_000_000).bytes_in(Duration::from_nanos(999_999)), Bytes::new(1499));
    }

    #[test]
    fn amounts_beyond_64_bits_of_work_have_finite_durations() {
        // Four seconds at one byte per nanosecond, and an amount that needs the 128-bit division.
        let amount = Bytes::new(4_000_000_000);
        assert_eq!(Rate::from_bps(8_000_000_000).time_for(amount), Duration::from_secs(4));
        assert_eq!(Rate::from_bps(3_000_000_000).time_for(amount).as_nanos(), 10_666_666_667);
    }

    #[test]
    fn a_mean_rate_is_its_bits_over_the_time() {
        assert_eq!(Rate::over(Bytes::new(1500), Duration::from_millis(1)), Rate::from_bps(12_000_000));
        assert_eq!(Rate::over(Bytes::new(1), Duration::from_secs(3)), Rate::from_bps(2));
        assert!((Rate::from_bps(12).bytes_per_second() - 1.5).abs() < 1e-15);
    }

    #[test]
    fn without_a_limit_any_amount_fits_into_any_time() {
        assert_eq!(Rate::UNLIMITED.bytes_in(Duration::from_nanos(1)), Bytes::MAX);
        assert_eq!(Rate::UNLIMITED.bytes_in(Duration::ZERO), Bytes::ZERO);
        assert_eq!(Rate::UNLIMITED.mul_f64(0.5), Rate::UNLIMITED);
    }

    #[test]
    fn fractions_become_the_nearest_whole_rate() {
        for (rate, nearest) in [(0.4, 0), (0.6, 1), (2.5, 3), (-1.0, 0), (f64::NAN, 0)] {
            assert_eq!(Rate::from_bps_f64(rate).as_bps(), nearest, "{rate}");
        }
        assert_eq!(Rate::from_bps(1001).mul_f64(0.7).as_bps(), 701);
    }
}
