//! Reed-Solomon codewords over bytes.

use crate::InvalidChannel;

/// Number of symbols of the longest codeword over bytes: 2^8 - 1.
const LONGEST: u32 = 255;

/// The rate of a Reed-Solomon code over bytes, data symbols over symbols, as an exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "declare", serde(try_from = "f64", into = "f64"))]
pub struct CodeRate {
    numerator: u32,
    denominator: u32,
}

impl CodeRate {
    /// Creates the rate `numerator`/`denominator`, from 1/255 to 1.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self, InvalidChannel> {
        let rate = Self { numerator, denominator };
        if numerator <= denominator && rate.most_data() >= 1 {
            Ok(rate)
        } else {
            Err(InvalidChannel::NotACodeRate(f64::from(numerator) / f64::from(denominator)))
        }
    }

    /// Returns the fraction nearest to `rate` with a denominator of at most a million: for 0.93 this is
    /// 93/100.
    pub fn nearest(rate: f64) -> Result<Self, InvalidChannel> {
        if !(f64::from(LONGEST).recip()..=1.0).contains(&rate) {
            return Err(InvalidChannel::NotACodeRate(rate));
        }
        let denominators = 1..=1_000_000;
        let numerator = |all: u32| libm::round(rate * f64::from(all));
        let distance = |all: u32| (numerator(all) / f64::from(all) - rate).abs();
        // Two such fractions differ by at least 1e-12, so one at less than half of that is the nearest.
        let close = denominators.clone().find(|&all| distance(all) < 4e-13);
        let nearest = || denominators.min_by(|&one, &other| distance(one).total_cmp(&distance(other)));
        let all = close.or_else(nearest).unwrap_or(1);
        Self::new(numerator(all) as u32, all)
    }

    /// Returns the codewords of a packet of `size` bytes, in the order of sending.
    ///
    /// Their number is the smallest with floor(255 rate) data bytes each; the data is spread evenly, longer
    /// codewords first. The parity of k data bytes is ceil(k / rate) - k, rounded down to an even number.
    /// Nothing is interleaved.
    pub fn codewords(self, size: u64) -> impl Iterator<Item = Codeword> {
        self.runs(size).into_iter().flat_map(|(word, count)| (0..count).map(move |_| word))
    }

    /// Returns the codewords as (codeword, number of consecutive ones): there are only two kinds, for any
    /// packet size.
    pub fn runs(self, size: u64) -> [(Codeword, u64); 2] {
        let count = size.div_ceil(u64::from(self.most_data()));
        let longer = size.checked_rem(count).unwrap_or(0);
        // At most 255.
        let shorter = size.checked_div(count).unwrap_or(0) as u32;
        [(shorter + u32::from(longer > 0), longer), (shorter, count - longer)]
            .map(|(data, count)| (Codeword { data, corrects: self.parity(data) / 2 }, count))
    }

    /// Returns the number of symbols of all codewords of a packet of `size` bytes.
    pub fn symbols(self, size: u64) -> u64 {
        self.runs(size).iter().map(|(word, count)| u64::from(word.symbols()) * count).sum()
    }

    fn most_data(self) -> u32 {
        (u64::from(LONGEST) * u64::from(self.numerator) / u64::from(self.denominator.max(1))) as u32
    }

    fn parity(self, data: u32) -> u32 {
        let symbols = (u64::from(data) * u64::from(self.denominator)).div_ceil(u64::from(self.numerator));
        (symbols as u32 - data) & !1
    }
}

/// A Reed-Solomon codeword over bytes with an even number of parity symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codeword {
    /// Data symbols.
    pub data: u32,
    /// The number of wrong symbols that can be corrected; with more, the codeword is lost.
    pub corrects: u32,
}

impl Codeword {
    /// Returns its length in symbols: the data and two parity symbols for each that can be corrected.
    pub const fn symbols(self) -> u32 {
        self.data + 2 * self.corrects
    }

    /// Returns the loss probability if symbols are wrong independently with probability `error`: the sum of
    /// C(b, i) error^i (1-error)^(b-i) from i = corrects + 1.
    pub fn independent_loss(self, error: f64) -> f64 {
        let symbols = self.symbols();
        let mut choices = 1.0;
        let mut loss = 0.0;
        for wrong in 0..=symbols {
            if wrong > self.corrects {
                let right = f64::from(symbols - wrong);
                loss += choices * libm::pow(error, f64::from(wrong)) * libm::pow(1.0 - error, right);
            }
            choices *= f64::from(symbols - wrong) / f64::from(wrong + 1);
        }
        loss
    }
}

impl TryFrom<f64> for CodeRate {
    type Error = InvalidChannel;

    fn try_from(rate: f64) -> Result<Self, InvalidChannel> {
        Self::nearest(rate)
    }
}

impl From<CodeRate> for f64 {
    fn from(rate: CodeRate) -> Self {
        Self::from(rate.numerator) / Self::from(rate.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_fraction_is_the_written_one() {
        for (rate, data, all) in [
            (0.93, 93, 100),
            (1.0, 1, 1),
            (1.0 / 255.0, 1, 255),
            (223.0 / 255.0, 223, 255),
            (0.123_456, 1929, 15_625),
        ] {
            assert_eq!(CodeRate::nearest(rate), CodeRate::new(data, all), "{rate}");
        }
        // Python: Fraction("…").limit_denominator(1_000_000).
        assert_eq!(CodeRate::nearest(0.123_456_789), CodeRate::new(10, 81));
        assert_eq!(CodeRate::nearest(core::f64::consts::FRAC_1_SQRT_2), CodeRate::new(665_857, 941_664));
        assert_eq!(CodeRate::nearest(0.500_000_5), CodeRate::new(500_000, 999_999));
        assert!(CodeRate::nearest(0.0039).is_err());
    }
}
