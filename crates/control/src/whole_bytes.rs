//! Conversion of fractional growth to a window of whole bytes.

use airpath_model::Bytes;

/// Converts growth to whole bytes; the fraction below one byte is carried over.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholeBytes {
    /// Bytes, at least 0 and less than 1.
    owed: f64,
}

impl WholeBytes {
    /// Returns the whole bytes of the carried fraction plus `growth` (bytes, finite and not negative).
    pub(crate) fn pay(&mut self, growth: f64) -> Bytes {
        let due = self.owed + growth;
        let whole = due as u64; // rounds down
        self.owed = due - whole as f64;
        Bytes::new(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_bytes_accumulate() {
        let mut growth = WholeBytes::default();
        let paid: u64 = (0..8).map(|_| growth.pay(1.375).get()).sum();
        assert_eq!(paid, 11);
        assert_eq!(growth.pay(0.0), Bytes::ZERO);
    }
}
