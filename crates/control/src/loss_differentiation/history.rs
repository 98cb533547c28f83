//! The signs of congestion in the last acknowledgments.

use crate::ConfigError;
use airpath_model::config::check;

/// The acknowledgments of the history that must indicate congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum HistoryRule {
    /// The newest T in succession.
    #[default]
    Consecutive,
    /// Any T of the N ("total" of VCP-W, section IV-C).
    Total,
}

/// The revolving bit map of VCP-W, section IV-C and figure 8: one bit for each of the last N acknowledgments,
/// 1 if it indicated congestion. Initially all are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionHistory {
    /// One bit per acknowledgment; the lowest bit is the newest.
    bits: u64,
    /// Mask of the bits that count: the newest T, or all N.
    window: u64,
    threshold: u32,
}

impl CongestionHistory {
    /// Creates a history in which `threshold` (T, 1 to N) of the last `length` acknowledgments (N, 1 to 64)
    /// must indicate congestion.
    ///
    /// Fails if either is out of range.
    pub fn new(length: u8, threshold: u8, rule: HistoryRule) -> Result<Self, ConfigError> {
        check((1..=64).contains(&length), "history", "1 to 64", length.into())?;
        let range = "1 to the history";
        check((1..=length).contains(&threshold), "history_threshold", range, threshold.into())?;
        let counted = match rule {
            HistoryRule::Consecutive => threshold,
            HistoryRule::Total => length,
        };
        Ok(Self { bits: 0, window: u64::MAX >> (64 - counted), threshold: threshold.into() })
    }

    /// Adds an acknowledgment and drops the oldest one.
    pub fn push(&mut self, congestion: bool) {
        self.bits = self.bits << 1 | u64::from(congestion);
    }

    /// Returns CF: whether the path counts as congested.
    pub const fn flag(&self) -> bool {
        (self.bits & self.window).count_ones() >= self.threshold
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;

    use super::*;

    /// Returns the flag after each of these bits, oldest first.
    fn flags(length: u8, threshold: u8, rule: HistoryRule, bits: &str) -> String {
        let mut history = CongestionHistory::new(length, threshold, rule).unwrap();
        let flag = |bit: u8| {
            history.push(bit == b'1');
            if history.flag() { '1' } else { '0' }
        };
        bits.bytes().map(flag).collect()
    }

    #[test]
    fn the_flag_is_set_while_the_newest_t_bits_are_all_set() {
        let consecutive = |bits| flags(8, 4, HistoryRule::Consecutive, bits);
        // Three bits are not enough, the fourth raises the flag, and one clear bit lowers it until four new
        // ones.
        assert_eq!(consecutive("0111011110111"), "0000000010000");
        assert_eq!(consecutive("1111101111"), "0001100001");
    }

    #[test]
    fn in_total_mode_any_t_of_n_bits_set_the_flag_until_they_leave() {
        let total = |bits| flags(8, 4, HistoryRule::Total, bits);
        // The fourth set bit raises the flag regardless of the bits between; the first leaves the history
        // after eight more bits.
        assert_eq!(total("1010101000"), "0000001100");
        assert_eq!(total("11110000000"), "00011111000");
    }

    #[test]
    fn with_the_parameters_of_the_paper_sixteen_in_a_row_are_congestion() {
        let bits = ["0", &"1".repeat(15), "0", &"1".repeat(17), "0"].concat();
        let expected = [&"0".repeat(17), &"0".repeat(15), "11", "0"].concat();
        assert_eq!(flags(32, 16, HistoryRule::Consecutive, &bits), expected);
        // With the total rule, sixteen of the last 32 bits are set from the seventeenth set bit on.
        let total = flags(32, 16, HistoryRule::Total, &bits);
        assert_eq!(total.find('1'), Some(17));
        assert!(total[17..].bytes().all(|flag| flag == b'1'));
    }

    #[test]
    fn the_whole_word_can_be_used() {
        for rule in [HistoryRule::Consecutive, HistoryRule::Total] {
            let raised = flags(64, 64, rule, &"1".repeat(65));
            assert_eq!(raised.find('1'), Some(63));
            assert_eq!(flags(1, 1, rule, "0101"), "0101");
        }
    }

    #[test]
    fn sizes_out_of_range_are_rejected() {
        for (length, threshold) in [(0, 1), (65, 16), (32, 0), (32, 33)] {
            assert!(CongestionHistory::new(length, threshold, HistoryRule::Total).is_err());
        }
    }
}
