//! Amounts of data.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// An amount of data in bytes. Arithmetic saturates: subtraction at zero, addition at the largest value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);
    /// Larger than any buffer or window: "no limit".
    pub const MAX: Self = Self(u64::MAX);

    /// Creates an amount of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the nearest whole number of bytes. Negative values and NaN give zero; values that are too
    /// large give the maximum.
    pub fn from_f64(bytes: f64) -> Self {
        Self((bytes + 0.5) as u64)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number of bytes as a float.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Returns the number of bits, eight times the bytes.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }

    /// Returns whether the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Multiplies the amount by a non-negative factor and rounds to the nearest byte.
    #[must_use]
    pub fn mul_f64(self, factor: f64) -> Self {
        Self::from_f64(self.0 as f64 * factor)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_become_the_nearest_whole_number() {
        for (bytes, nearest) in [(0.4, 0), (0.6, 1), (1499.4, 1499), (1499.5, 1500), (-3.0, 0), (f64::NAN, 0)]
        {
            assert_eq!(Bytes::from_f64(bytes).get(), nearest, "{bytes}");
        }
        assert_eq!(Bytes::from_f64(1e30), Bytes::MAX);
        assert_eq!(Bytes::new(1001).mul_f64(0.7).get(), 701);
    }

    #[test]
    fn sums_saturate() {
        let mut amount = Bytes::new(5);
        amount += Bytes::new(3);
        assert_eq!(amount.get(), 8);
        amount -= Bytes::new(2);
        assert_eq!(amount.get(), 6);
        amount -= Bytes::new(7);
        assert_eq!(amount, Bytes::ZERO);
        assert_eq!(Bytes::MAX + Bytes::new(1), Bytes::MAX);
        assert_eq!((Bytes::MAX * 2, Bytes::MAX.bits()), (Bytes::MAX, u64::MAX));
        assert_eq!([1, 2, 3].map(Bytes::new).into_iter().sum::<Bytes>().get(), 6);
    }
}
