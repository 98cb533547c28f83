//! XCP's feedback in the integers of the BPF program.

use airpath_queue::XcpFeedback;

/// Units of the programs' rates per byte/s.
const UNITS: f64 = 65_536.0;

/// Upper bound of mantissas, below 2^31, so that a product with a 32-bit number fits into 64 bits.
const MANTISSA: f64 = 2_147_483_647.0;

/// A factor as mantissa and shift: amount × mantissa >> shift. Exact to 2^-30 if it is above 2^-33.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Factor {
    /// The mantissa, below 2^31.
    pub mantissa: u32,
    /// The shift, below 64.
    pub shift: u32,
}

impl Factor {
    /// Converts `value` to mantissa and shift; at most 2^31 - 1, and zero for negative values and NaN.
    pub fn new(value: f64) -> Self {
        let mut scaled = value.max(0.0);
        let mut shift = 0;
        while shift < 63 && scaled * 2.0 < MANTISSA && scaled > 0.0 {
            scaled *= 2.0;
            shift += 1;
        }
        Self { mantissa: (scaled.min(MANTISSA) + 0.5) as u32, shift }
    }
}

/// The residues and shares of an [`XcpFeedback`]: rates in 1/65536 byte/s, X in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FixedShares {
    /// R+.
    pub residue_positive: u64,
    /// R−.
    pub residue_negative: u64,
    /// Cp.
    pub per_x: Factor,
    /// Cn.
    pub per_byte: Factor,
}

impl FixedShares {
    /// Converts the feedback; residues are rounded to the nearest unit.
    pub fn new(feedback: &XcpFeedback) -> Self {
        let residue = |rate: f64| (rate.clamp(0.0, 1e12) * UNITS + 0.5) as u64;
        Self {
            residue_positive: residue(feedback.residue_positive),
            residue_negative: residue(feedback.residue_negative),
            per_x: Factor::new(feedback.per_x * UNITS * 1e-9),
            per_byte: Factor::new(feedback.per_byte * UNITS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_keep_thirty_bits() {
        for value in [1e-6, 0.3, 1.0, 2.0, 1234.5, 1e9] {
            let factor = Factor::new(value);
            let exact = f64::from(factor.mantissa) / 2f64.powi(factor.shift as i32);
            assert!((exact - value).abs() <= value * 2f64.powi(-30), "{value}: {factor:?}");
            assert!(factor.mantissa < 1 << 31 && factor.shift < 64, "{factor:?}");
        }
    }

    #[test]
    fn factors_out_of_range_are_clamped() {
        assert_eq!(Factor::new(f64::NAN).mantissa, 0);
        assert_eq!(Factor::new(-1.0).mantissa, 0);
        assert_eq!(Factor::new(0.0), Factor::default());
        assert_eq!(Factor::new(f64::INFINITY).mantissa, i32::MAX.unsigned_abs());
        assert!(Factor::new(1e-30).shift < 64);
    }
}
