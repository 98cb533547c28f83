//! Reed-Solomon codewords over bytes.

use crate::InvalidChannel;

/// Symbols of the longest codeword over bytes: 2^8 - 1.
const LONGEST: u32 = 255;

/// The rate of a Reed-Solomon code over bytes, data symbols over symbols, as an exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRate {
    numerator: u32,
    denominator: u32,
}

impl CodeRate {
    /// The rate `numerator`/`denominator`, from 1/255 to 1.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self, InvalidChannel> {
        let rate = Self { numerator, denominator };
        if numerator <= denominator && rate.most_data() >= 1 {
            Ok(rate)
        } else {
            Err(InvalidChannel::NotACodeRate { numerator, denominator })
        }
    }

    /// The codewords of a packet of `size` bytes, in the order of sending.
    ///
    /// No more codewords than needed at floor(255 rate) data bytes each; the data is spread evenly, longer codewords
    /// first. The parity of k data bytes is ceil(k / rate) - k, rounded down to an even number. Nothing is interleaved.
    pub fn codewords(self, size: u64) -> impl Iterator<Item = Codeword> {
        self.runs(size).into_iter().flat_map(|(word, count)| (0..count).map(move |_| word))
    }

    /// The same as (codeword, how many of it in a row): there are only two kinds, however large the packet is.
    pub fn runs(self, size: u64) -> [(Codeword, u64); 2] {
        let count = size.div_ceil(u64::from(self.most_data()));
        let longer = size.checked_rem(count).unwrap_or(0);
        // At most 255.
        let shorter = size.checked_div(count).unwrap_or(0) as u32;
        [(shorter + u32::from(longer > 0), longer), (shorter, count - longer)]
            .map(|(data, count)| (Codeword { data, corrects: self.parity(data) / 2 }, count))
    }

    /// The symbols of all codewords of a packet of `size` bytes.
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
    /// How many wrong symbols can be corrected; the codeword is lost when there are more.
    pub corrects: u32,
}

impl Codeword {
    /// Its length in symbols: the data and two parity symbols for each that can be corrected.
    pub const fn symbols(self) -> u32 {
        self.data + 2 * self.corrects
    }

    /// The probability that it is lost when its symbols are wrong independently with probability `error`: the sum of
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
