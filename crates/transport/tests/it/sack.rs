//! Loss recovery with SACK: RFC 6675, 3042, 6937.

use airpath_model::{Bytes, CongestionSignal, NullProbe};
use airpath_transport::{Recovery, SenderConfig};

use crate::controller::Rule;
use crate::script::{MSS, Script, at, config};

const HALVE: Rule = Rule::Aimd { grow: false };

#[test]
fn fast_retransmit_when_more_than_two_segments_were_sacked() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    assert_eq!(script.send(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    script.at(100);
    assert_eq!(script.ack(0, &[(1, 2)]), [10], "limited transmit");
    assert_eq!(script.ack(0, &[(1, 3)]), [11], "limited transmit");
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    assert!(script.sender.in_recovery());
    let event = script.controller.desk().signals[0];
    assert_eq!((event.signal, event.lost.get()), (CongestionSignal::Loss, MSS));
    assert_eq!(event.flight_size.get(), 10 * MSS, "what limited transmit sent does not count");
    // Twelve sent, three sacked, one lost, one retransmitted; then pipe has to fall to the window of five.
    assert_eq!(script.in_flight(), 9);
    for right in 5..9 {
        assert!(script.ack(0, &[(1, right)]).is_empty());
    }
    assert_eq!(script.in_flight(), 5);
    assert_eq!(script.ack(0, &[(1, 9)]), [12]);
    assert_eq!(script.ack(0, &[(1, 10)]), [13]);
    script.ack(12, &[]);
    assert!(!script.sender.in_recovery());
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
}

#[test]
fn fast_retransmit_on_three_separate_blocks() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 20);
    script.send();
    script.at(100).give(0, &[(3, 4), (1, 2)]);
    assert!(!script.sender.in_recovery());
    script.give(0, &[(5, 6), (3, 4), (1, 2)]);
    assert!(script.sender.in_recovery());
    // Above segment 2 there are only two blocks of one segment each.
    assert_eq!(script.send(), [0]);
    script.give(0, &[(7, 8), (5, 6), (3, 4)]);
    assert_eq!(script.controller.last_ack().newly_lost.get(), MSS);
}

#[test]
fn fast_retransmit_on_the_third_duplicate_of_short_segments() {
    let mut script = Script::idle(config(Recovery::Sack), HALVE, 10);
    for _ in 0..6 {
        script.sender.offer(Bytes::new(10));
        assert_eq!(script.segments().len(), 1);
    }
    for right in 2..=4 {
        assert!(!script.sender.in_recovery());
        let mut blocks = airpath_transport::SackBlocks::new();
        blocks.push(0, 10, right * 10);
        let ack = airpath_transport::Acknowledgment {
            repeated: false,
            cumulative: 0,
            sack: blocks,
            receive_window: Bytes::MAX,
            timestamp: None,
            timestamp_echo: None,
            ece: false,
            marked: 0,
            path: airpath_model::PathHeader::None,
        };
        script.sender.on_ack(at(100), &ack, &mut NullProbe);
    }
    assert!(script.sender.in_recovery());
    let again = script.at(100).segments();
    assert_eq!(again.iter().map(|segment| segment.sequence).collect::<Vec<_>>(), [0, 50], "and the rescue");
}

#[test]
fn an_acknowledgment_without_new_information_is_no_duplicate() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    script.send();
    for _ in 0..5 {
        script.at(100).ack(0, &[(1, 2)]);
    }
    assert!(!script.sender.in_recovery());
}

/// RFC 6937 by hand. Twenty in flight, the first is lost; limited transmit sends two more: `RecoverFS` is 22
/// and the new window 10. While pipe = 19 - k + sent exceeds 10, delivery k of the recovery allows ceil(10 k
/// / 22) segments in total; afterwards pipe stays at 10.
#[test]
fn proportional_rate_reduction_after_one_loss() {
    let mut script = Script::new(config(Recovery::Prr), HALVE, 20);
    script.send();
    script.at(100);
    assert_eq!(script.ack(0, &[(1, 2)]), [20]);
    assert_eq!(script.ack(0, &[(1, 3)]), [21]);
    let sent: Vec<usize> = (4..=22).map(|right| script.ack(0, &[(1, right)]).len()).collect();
    assert_eq!(sent, [1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1]);
    assert_eq!(script.in_flight(), 10);
    assert_eq!(script.sender.counters().retransmitted_packets, 1);
}

/// Fifteen of twenty lost: each of the five acknowledgments allows the delivered segments plus one (the
/// slow-start bound), until the flight reaches the size of the window.
#[test]
fn proportional_rate_reduction_after_heavy_loss() {
    let mut script = Script::new(config(Recovery::Prr), HALVE, 20);
    script.send();
    script.at(100);
    assert_eq!(script.ack(0, &[(15, 16)]), [20]);
    assert_eq!(script.ack(0, &[(15, 17)]), [21]);
    assert_eq!(script.ack(0, &[(15, 18)]), [0, 1]);
    assert_eq!(script.ack(0, &[(15, 19)]), [2, 3]);
    assert!(script.ack(0, &[(15, 19)]).is_empty(), "nothing was delivered");
    assert_eq!(script.ack(0, &[(15, 20)]), [4, 5]);
    assert_eq!(script.ack(0, &[(15, 21)]), [6, 7]);
    assert_eq!(script.ack(0, &[(15, 22)]), [8, 9]);
    assert_eq!(script.in_flight(), 10);
}

#[test]
fn proportional_rate_reduction_respects_windows_that_are_no_multiple_of_a_segment() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Fixed, 20);
    script.send();
    script.controller.desk().control.window = Bytes::new(7_700);
    script.at(100);
    for right in 2..=20 {
        script.ack(0, &[(1, right)]);
    }
    assert!(script.sender.in_recovery());
    assert_eq!(script.in_flight(), 7, "the largest number of segments that fits");
}

/// Exactly ten segments, of which 0, 8 and 9 are lost: the end of the tail is retransmitted once. The same
/// holds if there is more data that the receive window does not admit (RFC 6675, rule 2 of `NextSeg`).
#[test]
fn one_rescue_retransmission_for_each_recovery() {
    for no_more_to_send in [true, false] {
        rescue(no_more_to_send);
    }
}

fn rescue(no_more_to_send: bool) {
    let receive_window = if no_more_to_send { Bytes::MAX } else { Bytes::new(10 * MSS) };
    let mut script = Script::idle(SenderConfig { receive_window, ..config(Recovery::Sack) }, HALVE, 10);
    script.sender.offer(if no_more_to_send { Bytes::new(10 * MSS) } else { Bytes::MAX });
    script.send();
    if !no_more_to_send {
        script.receive_window = Bytes::new(2 * MSS); // the edge stays at ten segments
    }
    script.at(100).ack(0, &[(1, 3)]);
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    assert_eq!(script.in_flight(), 7);
    assert!(script.ack(0, &[(1, 6)]).is_empty());
    assert_eq!(script.ack(0, &[(1, 7)]), [9], "pipe 4, window 5");
    assert!(script.ack(0, &[(1, 8)]).is_empty());
    assert!(script.at(200).ack(8, &[]).is_empty(), "only once");
    assert!(script.sender.in_recovery());
    script.at(210).ack(8, &[(9, 10)]);
    assert_eq!(script.sender.counters().retransmitted_packets, 2);
}

/// RFC 6675, rule 4 of `NextSeg`: once per entry into loss recovery, so again in the next one.
#[test]
fn the_next_recovery_has_its_own_rescue_retransmission() {
    let mut script = Script::idle(config(Recovery::Sack), Rule::Fixed, 10);
    for flight in 0..2 {
        let (first, last) = (10 * flight, 10 * flight + 9);
        script.sender.offer(Bytes::new(10 * MSS));
        assert_eq!(script.send().len(), 10);
        // The first and the last are lost.
        let sent = script.at(100 + 200 * flight).ack(first, &[(first + 1, last)]);
        assert_eq!(sent, [first, last], "the hole and the rescue");
        script.at(200 + 200 * flight).ack(last + 1, &[]);
        assert!(!script.sender.in_recovery());
    }
}

/// The same rule applies only in loss recovery, and only to a sender that uses selective acknowledgments.
#[test]
fn no_rescue_outside_of_recovery_or_without_sack() {
    let tail = |recovery| {
        let mut script = Script::idle(config(recovery), Rule::Fixed, 10);
        script.sender.offer(Bytes::new(10 * MSS));
        script.send();
        script.at(100);
        script
    };
    let mut script = tail(Recovery::Sack);
    assert!(script.ack(0, &[(1, 2)]).is_empty(), "one segment out of order is no loss");
    assert!(!script.sender.in_recovery());
    let mut script = tail(Recovery::Newreno);
    let sent: Vec<u64> = (0..5).flat_map(|_| script.ack(0, &[])).collect();
    assert_eq!(sent, [0], "the hole alone");
    assert!(script.sender.in_recovery());
}

/// With SACK a partial acknowledgment has no meaning of its own: `IsLost` determines the lost segments, and
/// pipe when they are retransmitted (RFC 6675, section 5). RFC 6582 applies to senders without SACK.
#[test]
fn a_partial_acknowledgment_neither_reveals_a_loss_nor_opens_the_window() {
    let mut script = Script::new(config(Recovery::Sack), Rule::Fixed, 20);
    script.send();
    // Segment 0 is lost, 18 is late: one segment above it has arrived.
    assert_eq!(script.at(100).ack(0, &[(1, 18)]).first(), Some(&0));
    let sent = script.at(200).ack(18, &[(19, 20)]);
    assert!(script.sender.in_recovery());
    assert_eq!(script.controller.last_ack().newly_lost, Bytes::ZERO);
    assert!(!sent.is_empty() && sent.iter().all(|&segment| segment >= 20), "{sent:?}");
    // Segments 0 and 4 are lost; the window is 10, pipe 13 and after the partial acknowledgment 12.
    let mut script = Script::new(config(Recovery::Sack), HALVE, 20);
    script.send();
    assert_eq!(script.at(100).ack(0, &[(5, 8), (1, 4)]), [0]);
    assert_eq!(script.in_flight(), 13);
    assert!(script.at(200).ack(4, &[(5, 8)]).is_empty());
    assert_eq!(script.in_flight(), 12);
    assert_eq!(script.ack(4, &[(5, 11)]), [4], "pipe has fallen to 9");
}

/// Segments 0, 2 and 4 are lost, and the retransmission of 2 is lost again.
fn lose_a_retransmission(detect: bool) -> (Script, Vec<u64>) {
    let config = SenderConfig { lost_retransmission_detection: detect, ..config(Recovery::Sack) };
    let mut script = Script::new(config, Rule::Fixed, 20);
    script.send();
    let sent = script.at(100).ack(0, &[(5, 10), (3, 4), (1, 2)]);
    assert_eq!(sent, [0, 2, 4, 20, 21, 22, 23, 24, 25, 26]);
    let mut later = script.at(200).ack(2, &[(3, 4), (5, 10)]);
    later.extend(script.ack(2, &[(3, 10)]));
    later.extend(script.ack(2, &[(3, 20)]));
    later.extend(script.ack(2, &[(3, 21)]));
    assert!(!later.contains(&2), "only two of the later transmissions have arrived");
    let sent = script.ack(2, &[(3, 22)]);
    (script, sent)
}

#[test]
fn a_lost_retransmission_is_detected_in_the_middle_of_the_window() {
    let (mut script, sent) = lose_a_retransmission(true);
    assert_eq!(sent.first(), Some(&2));
    assert_eq!(script.controller.last_ack().newly_lost.get(), MSS);
    script.at(300).ack(22, &[]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss], "one signal for the episode");
    assert_eq!(script.sender.counters().timeouts, 0);
}

#[test]
fn without_detection_the_timer_repairs_a_lost_retransmission() {
    let (mut script, sent) = lose_a_retransmission(false);
    assert!(!sent.contains(&2));
    assert_eq!(script.expire().first(), Some(&2));
    assert_eq!(script.sender.counters().timeouts, 1);
}

/// Segments 0, 1, 2, 4 and 6 have been retransmitted when the original of 6 arrives. It does not acknowledge
/// the retransmission, so it is no evidence about the retransmissions before it.
#[test]
fn a_late_original_is_not_mistaken_for_its_retransmission() {
    let mut script = Script::new(config(Recovery::Sack), Rule::Fixed, 20);
    script.send();
    let sent = script.at(100).ack(0, &[(7, 20), (5, 6), (3, 4)]);
    assert_eq!(sent[..4], [0, 1, 2, 4]);
    assert_eq!(sent[4], 6);
    let sent = script.at(105).ack(0, &[(5, 20), (3, 4)]);
    assert_eq!(script.controller.last_ack().newly_lost, Bytes::ZERO);
    assert!(sent.iter().all(|&segment| segment >= 20), "{sent:?}");
    // A round trip later it could be the retransmission itself.
    let mut script = Script::new(config(Recovery::Sack), Rule::Fixed, 20);
    script.send();
    script.at(100).ack(0, &[(7, 20), (5, 6), (3, 4)]);
    script.at(200).ack(0, &[(5, 20), (3, 4)]);
    assert_eq!(script.controller.last_ack().newly_lost.get(), 2 * MSS, "0 and 1");
}

/// Data sent during a recovery and lost is a new loss event when that recovery ends.
#[test]
fn remaining_losses_start_the_next_recovery() {
    let overtaken = SenderConfig { lost_retransmission_detection: false, ..config(Recovery::Sack) };
    let mut script = Script::new(overtaken, Rule::Fixed, 8);
    script.send();
    assert_eq!(script.at(100).ack(0, &[(1, 8)]), [0, 8, 9, 10, 11, 12, 13, 14]);
    // 8 is lost: it is detected and retransmitted within the first recovery, because 9 to 14 arrive before 0.
    let sent = script.at(190).ack(0, &[(9, 15), (1, 8)]);
    assert_eq!(sent.first(), Some(&8));
    assert_eq!(script.controller.signals().len(), 1);
    script.at(200).ack(8, &[(9, 15)]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss, CongestionSignal::Loss]);
    assert!(script.sender.in_recovery());
    assert_eq!(script.sender.counters().retransmitted_packets, 2, "8 is already in flight");
}

#[test]
fn a_short_last_segment_is_retransmitted_with_later_data() {
    let mut script = Script::idle(config(Recovery::Sack), HALVE, 20);
    script.sender.offer(Bytes::new(2_500));
    let payloads: Vec<u32> = script.segments().iter().map(|segment| segment.payload).collect();
    assert_eq!(payloads, [1000, 1000, 500]);
    script.sender.offer(Bytes::new(4_200));
    let sequences: Vec<u64> = script.segments().iter().map(|segment| segment.sequence).collect();
    assert_eq!(sequences, [2_500, 3_500, 4_500, 5_500, 6_500]);
    script.sender.finish();
    let mut blocks = airpath_transport::SackBlocks::new();
    blocks.push(2_000, 2_500, 5_500);
    let mut ack = airpath_transport::Acknowledgment {
        repeated: false,
        cumulative: 2_000,
        sack: blocks,
        receive_window: Bytes::MAX,
        timestamp: None,
        timestamp_echo: None,
        ece: false,
        marked: 0,
        path: airpath_model::PathHeader::None,
    };
    script.sender.on_ack(at(100), &ack, &mut NullProbe);
    let again = script.at(100).segments();
    assert_eq!((again[0].sequence, again[0].payload, again[0].retransmission), (2_000, 500, true));
    assert_eq!((again[1].sequence, again[1].payload), (6_500, 200), "the rescue");
    assert_eq!(script.sender.in_flight().get(), 500 + 1_200 + 200);
    ack.cumulative = 6_700;
    ack.sack = airpath_transport::SackBlocks::new();
    script.sender.on_ack(at(200), &ack, &mut NullProbe);
    assert!(script.sender.is_complete());
}

/// Input of acknowledgment-rate estimators: a duplicate means that one segment left the network, and the
/// cumulative advance includes data that was selectively acknowledged before.
#[test]
fn duplicates_and_the_cumulative_advance_are_reported() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    script.send();
    script.at(100).ack(2, &[]);
    let reported = |event: airpath_model::AckEvent| (event.advance.get(), event.acked.get(), event.duplicate);
    assert_eq!(reported(script.controller.last_ack()), (2 * MSS, 2 * MSS, false));
    script.ack(2, &[(3, 5)]);
    assert_eq!(reported(script.controller.last_ack()), (0, 2 * MSS, true));
    script.ack(5, &[]);
    assert_eq!(reported(script.controller.last_ack()), (3 * MSS, MSS, false));
}
