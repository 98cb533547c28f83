//! The amount of data that an acknowledgment represents.

use airpath_model::{AckEvent, Bytes};

/// Amounts from cumulative acknowledgments and duplicates (Casetti et al. 2001, section 2.2, `AckedCount`;
/// GM, section 3; the same in Linux).
///
/// A duplicate reports that one segment arrived, but not which one: it counts as one segment. The later
/// cumulative acknowledgment covers those segments again, so they are subtracted from it. It counts as at
/// least one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckedCount {
    /// Data counted for duplicates that no cumulative acknowledgment has covered yet.
    accounted: Bytes,
}

impl AckedCount {
    /// Returns the amount that this acknowledgment adds.
    pub fn count(&mut self, event: &AckEvent) -> Bytes {
        if event.duplicate || event.hidden_duplicate {
            self.accounted += event.mss;
            return event.mss;
        }
        let advance = event.advance;
        if advance <= event.mss {
            return advance;
        }
        if self.accounted >= advance {
            self.accounted -= advance;
            return event.mss;
        }
        let counted = advance - self.accounted;
        self.accounted = Bytes::ZERO;
        counted
    }
}

#[cfg(test)]
mod tests {
    use airpath_model::Timestamp;

    use super::*;

    const MSS: u64 = 1000;

    fn ack(advance: u64) -> AckEvent {
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.mss = Bytes::new(MSS);
        event.advance = Bytes::new(advance * MSS);
        event.duplicate = advance == 0;
        event
    }

    /// One of ten segments is lost: nine duplicates, then one acknowledgment for all ten and the two sent in
    /// the meantime.
    #[test]
    fn data_counted_by_duplicates_is_not_counted_again() {
        let mut count = AckedCount::default();
        let total: u64 = [0; 9].iter().map(|_| count.count(&ack(0)).get()).sum();
        assert_eq!(total, 9 * MSS);
        assert_eq!(count.count(&ack(12)).get(), 3 * MSS);
        assert_eq!(count.count(&ack(2)).get(), 2 * MSS);
    }

    /// Three holes: partial acknowledgments that cover no more than the counted data represent the
    /// retransmission.
    #[test]
    fn a_partial_acknowledgment_counts_one_segment() {
        let mut count = AckedCount::default();
        for _ in 0..7 {
            count.count(&ack(0));
        }
        assert_eq!(count.count(&ack(4)).get(), MSS);
        assert_eq!(count.count(&ack(1)).get(), MSS);
        assert_eq!(count.count(&ack(5)).get(), 2 * MSS);
    }

    #[test]
    fn without_duplicates_all_data_counts() {
        let mut count = AckedCount::default();
        assert_eq!(count.count(&ack(2)).get(), 2 * MSS);
        let mut short = ack(1);
        short.advance = Bytes::new(17);
        assert_eq!(count.count(&short).get(), 17);
    }

    /// Four segments, which three duplicates and the retransmission reported.
    #[test]
    fn an_acknowledgment_of_counted_data_represents_the_retransmission() {
        let mut count = AckedCount::default();
        for _ in 0..4 {
            count.count(&ack(0));
        }
        assert_eq!(count.count(&ack(4)).get(), MSS);
    }

    #[test]
    fn a_duplicate_whose_repair_is_hidden_counts_one_segment() {
        let mut count = AckedCount::default();
        let mut hidden = ack(2);
        hidden.hidden_duplicate = true;
        assert_eq!(count.count(&hidden).get(), MSS);
        assert_eq!(count.count(&ack(3)).get(), 2 * MSS);
    }
}
