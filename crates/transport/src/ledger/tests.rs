//! Compares the incremental scoreboard with a literal implementation of RFC 6675, section 4, over the full
//! list.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use airpath_model::{Bytes, Duration, Timestamp};
use proptest::prelude::*;

use super::Ledger;
use crate::delivery_rate::SendState;

const MSS: u64 = 100;

/// The scoreboard of the RFC: flags for each segment, everything else recomputed. A segment once lost stays
/// lost.
#[derive(Debug, Default)]
struct Reference {
    /// (first byte, last byte + 1, selectively acknowledged, retransmitted).
    segments: Vec<(u64, u64, bool, bool)>,
    acknowledged: u64,
    lost: BTreeSet<u64>,
}

impl Reference {
    fn outstanding(&self) -> impl Iterator<Item = &(u64, u64, bool, bool)> {
        self.segments.iter().filter(|segment| segment.1 > self.acknowledged)
    }

    /// Returns whether three discontiguous sequences, or more than two segments' worth, are selectively
    /// acknowledged above.
    fn is_lost_by_sacks(&self, sequence: u64) -> bool {
        let (mut blocks, mut bytes, mut end_of_last) = (0, 0, None);
        for &(left, right, sacked, _) in self.outstanding().filter(|segment| segment.0 > sequence) {
            if sacked {
                bytes += right - left;
                blocks += u32::from(end_of_last != Some(left));
                end_of_last = Some(right);
            }
        }
        blocks >= 3 || bytes > 2 * MSS
    }

    fn note_losses(&mut self) {
        let sequences: Vec<u64> =
            self.outstanding().filter(|segment| !segment.2).map(|segment| segment.0).collect();
        for sequence in sequences {
            if self.is_lost_by_sacks(sequence) {
                self.lost.insert(sequence);
            }
        }
    }

    fn is_lost(&self, sequence: u64) -> bool {
        self.lost.contains(&sequence)
    }

    fn set_pipe(&self) -> u64 {
        self.outstanding()
            .filter(|segment| !segment.2)
            .map(|&(left, right, _, again)| {
                (u64::from(!self.is_lost(left)) + u64::from(again)) * (right - left)
            })
            .sum()
    }

    /// Applies rule 1 of `NextSeg`.
    fn next_lost(&self) -> Option<u64> {
        self.outstanding()
            .find(|&&(left, _, sacked, again)| !sacked && !again && self.is_lost(left))
            .map(|s| s.0)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send(u32),
    /// Selectively acknowledges outstanding segments (start in per cent, number of segments).
    Sack(usize, usize),
    /// Acknowledges cumulatively up to the first hole, after filling this many holes.
    Fill(usize),
    Retransmit,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => prop_oneof![Just(MSS as u32), 1..=MSS as u32].prop_map(Step::Send),
        3 => (0_usize..100, 1_usize..5).prop_map(|(start, count)| Step::Sack(start, count)),
        1 => (0_usize..3).prop_map(Step::Fill),
        2 => Just(Step::Retransmit),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_text_of_rfc_6675(steps in steps()) {
        let (mut ledger, mut reference) = (Ledger::default(), Reference::default());
        // The blocks of an acknowledgment: the newest block, and earlier blocks repeated.
        let mut blocks = [(0, 0); 3];
        let mut lost = 0;
        for step in steps {
            match step {
                Step::Send(payload) => {
                    let left = ledger.next();
                    ledger.on_sent(Timestamp::ZERO, payload, SendState::default());
                    reference.segments.push((left, left + u64::from(payload), false, false));
                }
                Step::Sack(start, count) => {
                    // Not the first segment: it would be acknowledged cumulatively.
                    let outstanding: Vec<_> = reference.outstanding().skip(1).copied().collect();
                    let first = start * outstanding.len() / 100;
                    let chosen = &outstanding[first..(first + count).min(outstanding.len())];
                    if let (Some(&(left, ..)), Some(&(_, right, ..))) = (chosen.first(), chosen.last()) {
                        let mut delivered = 0;
                        blocks = [(left, right), blocks[0], blocks[1]];
                        ledger.sack_blocks(blocks.into_iter(), |record| delivered += u64::from(record.payload));
                        let fresh: u64 = chosen.iter().filter(|s| !s.2).map(|s| s.1 - s.0).sum();
                        prop_assert_eq!(delivered, fresh);
                        for segment in &mut reference.segments {
                            segment.2 |= segment.0 >= left && segment.1 <= right;
                        }
                    }
                }
                Step::Fill(holes) => {
                    let mut left = holes + 1;
                    let end = reference.outstanding().take_while(|segment| {
                        left -= usize::from(!segment.2 && left > 0);
                        segment.2 || left > 0
                    }).last().map(|segment| segment.1);
                    if let Some(end) = end {
                        ledger.acknowledge(end, |_| {});
                        reference.acknowledged = end;
                    }
                }
                Step::Retransmit => {
                    prop_assert_eq!(ledger.next_lost().map(|(sequence, _)| sequence), reference.next_lost());
                    if let Some((sequence, _)) = ledger.next_lost() {
                        ledger.on_retransmitted(Timestamp::ZERO, sequence, SendState::default());
                        for segment in reference.segments.iter_mut().filter(|segment| segment.0 == sequence) {
                            segment.3 = true;
                        }
                    }
                }
            }
            lost += ledger.mark_lost_by_sack(Bytes::new(MSS)).get();
            reference.note_losses();
            for record in ledger.records() {
                prop_assert_eq!(record.lost && !record.sacked, !record.sacked && reference.is_lost(record.sequence));
            }
            prop_assert_eq!(ledger.pipe().get(), reference.set_pipe());
            prop_assert!(lost <= ledger.next());
        }
    }
}

fn ledger_of(segments: u64) -> Ledger {
    let mut ledger = Ledger::default();
    for k in 0..segments {
        ledger.on_sent(Timestamp::ZERO + Duration::from_millis(k), MSS as u32, SendState::default());
    }
    ledger
}

fn lost(ledger: &Ledger) -> Vec<u64> {
    ledger
        .records()
        .filter(|record| record.lost && !record.sacked)
        .map(|record| record.sequence / MSS)
        .collect()
}

#[test]
fn segments_sent_after_a_timeout_are_not_marked_lost() {
    let mut ledger = ledger_of(3);
    assert_eq!(ledger.mark_all_lost().get(), 3 * MSS);
    assert_eq!(ledger.mark_all_lost().get(), 0, "nothing new is lost");
    ledger.on_sent(Timestamp::ZERO, MSS as u32, SendState::default());
    assert_eq!(lost(&ledger), [0, 1, 2]);
    assert_eq!(ledger.pipe().get(), MSS);
    // The segment can be marked as lost later.
    for _ in 4..8 {
        ledger.on_sent(Timestamp::ZERO, MSS as u32, SendState::default());
    }
    ledger.sack(4 * MSS, 7 * MSS, |_| {});
    assert_eq!(ledger.mark_lost_by_sack(Bytes::new(MSS)).get(), MSS);
    assert_eq!(lost(&ledger), [0, 1, 2, 3]);
}

#[test]
fn an_undone_timeout_clears_losses_and_detects_them_again() {
    let mut ledger = ledger_of(8);
    ledger.sack(2 * MSS, 3 * MSS, |_| {});
    ledger.mark_all_lost();
    assert_eq!(ledger.next_lost(), Some((0, MSS as u32)));
    ledger.on_retransmitted(Timestamp::ZERO, 0, SendState::default());
    ledger.unmark_all_lost();
    assert_eq!((lost(&ledger).len(), ledger.next_lost()), (0, None));
    assert_eq!(ledger.pipe().get(), 7 * MSS);
    ledger.sack(2 * MSS, 5 * MSS, |_| {});
    assert_eq!(ledger.mark_lost_by_sack(Bytes::new(MSS)).get(), 2 * MSS);
    assert_eq!(lost(&ledger), [0, 1]);
}

#[test]
fn a_segment_sacked_after_its_retransmission_leaves_the_pipe_completely() {
    let mut ledger = ledger_of(5);
    ledger.sack(2 * MSS, 5 * MSS, |_| {});
    ledger.mark_lost_by_sack(Bytes::new(MSS));
    ledger.on_retransmitted(Timestamp::ZERO, MSS, SendState::default());
    assert_eq!(ledger.pipe().get(), MSS);
    ledger.sack(MSS, 2 * MSS, |_| {});
    assert_eq!(ledger.pipe().get(), 0);
    assert_eq!(ledger.next_lost(), Some((0, MSS as u32)));
}

/// A selectively acknowledged retransmission has arrived, regardless of the data delivered after it.
#[test]
fn a_delivered_retransmission_is_not_lost_again() {
    let mut ledger = ledger_of(5);
    ledger.sack(2 * MSS, 5 * MSS, |_| {});
    ledger.mark_lost_by_sack(Bytes::new(MSS));
    ledger.on_retransmitted(Timestamp::ZERO, MSS, SendState::default());
    ledger.sack(MSS, 2 * MSS, |_| {});
    ledger.note_delivered(6 + 3); // the retransmission was transmission 6
    assert_eq!(ledger.mark_lost_retransmissions(), Bytes::ZERO);
    assert_eq!(ledger.next_lost(), Some((0, MSS as u32)));
}

#[test]
fn the_list_of_retransmissions_is_bounded() {
    let mut ledger = Ledger::default();
    for k in 0..100 {
        ledger.on_sent(Timestamp::ZERO, MSS as u32, SendState::default());
        ledger.mark_first_lost();
        ledger.on_retransmitted(Timestamp::ZERO, k * MSS, SendState::default());
        ledger.acknowledge((k + 1) * MSS, |_| {});
    }
    assert!(ledger.retransmissions.is_empty());
}

/// A rescue retransmission is sent after all originals: if it is lost, they are lost too.
#[test]
fn a_lost_rescue_retransmission_reveals_losses_below_it() {
    let mut ledger = ledger_of(6);
    ledger.sack(2 * MSS, 3 * MSS, |_| {});
    ledger.on_retransmitted(Timestamp::ZERO, 5 * MSS, SendState::default());
    for _ in 0..3 {
        ledger.on_sent(Timestamp::ZERO, MSS as u32, SendState::default());
    }
    // The rescue was transmission 7; segments 6 to 8 are transmissions 8 to 10.
    ledger.sack(7 * MSS, 8 * MSS, |_| {});
    ledger.note_delivered(9);
    assert_eq!(ledger.mark_lost_retransmissions().get(), 0, "two later");
    ledger.sack(8 * MSS, 9 * MSS, |_| {});
    ledger.note_delivered(10);
    assert_eq!(ledger.mark_lost_retransmissions().get(), 5 * MSS);
    assert_eq!(lost(&ledger), [0, 1, 3, 4, 5]);
    assert_eq!(ledger.pipe().get(), MSS, "segment 6");
}

#[test]
fn a_block_above_the_sent_data_is_processed_again() {
    let mut ledger = Ledger::default();
    let mut delivered = [0, 0];
    for delivered in &mut delivered {
        (0..2).for_each(|_| ledger.on_sent(Timestamp::ZERO, MSS as u32, SendState::default()));
        ledger.sack_blocks([(MSS, 4 * MSS)].into_iter(), |_| *delivered += 1);
    }
    assert_eq!(delivered, [1, 2]);
}

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

/// Segments 0 to 4 are sent at 0, 10, … ms. The first three are lost and retransmitted at 50, 60 and 70 ms
/// (transmissions 6 to 8).
fn with_retransmissions() -> Ledger {
    let mut ledger = Ledger::default();
    for k in 0..5 {
        ledger.on_sent(at(10 * k), MSS as u32, SendState::default());
    }
    ledger.mark_lost_below(3 * MSS);
    for k in 0..3 {
        assert_eq!(ledger.next_lost(), Some((k * MSS, MSS as u32)));
        ledger.on_retransmitted(at(50 + 10 * k), k * MSS, SendState::default());
    }
    ledger
}

#[test]
fn segments_sent_after_the_newest_delivered_one_are_never_late() {
    let mut ledger = with_retransmissions();
    // Transmission 6 (segment 0, retransmitted) was the last one delivered; nothing is known about 7 and 8.
    ledger.acknowledge(MSS, |_| {});
    ledger.sack_blocks([(3 * MSS, 5 * MSS)].into_iter(), |_| {});
    assert_eq!(
        ledger.mark_lost_by_time(6, at(10_000), Duration::from_millis(1)),
        (Bytes::ZERO, Timestamp::NEVER)
    );
    assert_eq!(
        ledger.mark_lost_by_time(8, at(10_000), Duration::from_millis(1)).0,
        Bytes::new(MSS),
        "7 alone"
    );
}

#[test]
fn the_earliest_of_originals_and_retransmissions_is_due() {
    let mut ledger = with_retransmissions();
    let patience = Duration::from_millis(100);
    // Segment 3, an original, was sent at 30 ms and segment 0 again at 50 ms.
    assert_eq!(ledger.mark_lost_by_time(9, at(129), patience), (Bytes::ZERO, at(130)));
    // Without the originals, the next one is a retransmission.
    ledger.sack_blocks([(3 * MSS, 5 * MSS)].into_iter(), |_| {});
    assert_eq!(ledger.mark_lost_by_time(9, at(149), patience), (Bytes::ZERO, at(150)));
    assert_eq!(ledger.mark_lost_by_time(9, at(150), patience), (Bytes::new(MSS), at(160)));
}
