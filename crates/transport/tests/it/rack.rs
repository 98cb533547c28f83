//! Loss detection by time: RACK (RFC 8985, section 6.2).

use airpath_model::{Bytes, CongestionSignal, Duration};
use airpath_transport::{ConfigError, LossDetection, Recovery, Sender, SenderConfig};

use crate::controller::{Handle, Rule};
use crate::script::{MSS, Script, at, config};

const HALVE: Rule = Rule::Aimd { grow: false };

fn rack() -> SenderConfig {
    SenderConfig { loss_detection: LossDetection::Rack, ..config(Recovery::Sack) }
}

/// Returns a sender with a round trip of 100 ms that has observed reordering: segments 0 to 5 have arrived,
/// the first after the others, and `window` more are in flight since 100 ms.
fn reordered(window: u64) -> Script {
    let mut script = Script::idle(rack(), HALVE, window);
    script.sender.offer(Bytes::new(6 * MSS));
    script.send();
    script.at(100).give(0, &[(1, 3)]);
    script.give(6 * MSS, &[]);
    assert!(!script.sender.in_recovery(), "two segments above a hole are not enough at once");
    script.sender.offer(Bytes::MAX);
    assert_eq!(script.send()[0], 6);
    script
}

#[test]
fn without_reordering_three_segments_above_a_hole_reveal_a_loss_at_once() {
    let mut script = Script::new(rack(), HALVE, 10);
    script.send();
    script.at(100);
    assert_eq!(script.ack(0, &[(1, 2)]), [10], "limited transmit");
    assert_eq!(script.ack(0, &[(1, 3)]), [11], "limited transmit");
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
}

#[test]
fn fewer_segments_reveal_a_loss_after_a_quarter_of_the_round_trip() {
    let mut script = Script::idle(rack(), HALVE, 10);
    script.sender.offer(Bytes::new(2 * MSS));
    assert_eq!(script.send(), [0, 1]);
    assert!(script.at(100).ack(0, &[(1, 2)]).is_empty());
    assert_eq!(
        script.sender.next_timer(),
        at(125),
        "sent at 0, 100 ms for the one that overtook it, and 25 ms"
    );
    assert_eq!(script.expire(), [0]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss], "the timeout has not expired");
    assert_eq!(script.sender.counters().timeouts, 0);
}

#[test]
fn after_reordering_any_number_of_segments_waits_for_the_reordering_window() {
    let mut script = reordered(10);
    script.at(200);
    assert!(script.ack(6, &[(7, 15)]).iter().all(|&segment| segment > 15), "new data at most");
    assert!(!script.sender.in_recovery());
    assert_eq!(script.sender.next_timer(), at(225));
    // The segment arrives in time: there is no loss and no retransmission.
    script.at(224).ack(15, &[]);
    assert!(script.controller.signals().is_empty());
    assert_eq!(script.sender.counters().retransmitted_packets, 0);
    assert!(script.sender.next_timer() > at(300), "only the timeout is left");
}

#[test]
fn segments_later_than_the_reordering_window_are_lost() {
    let mut script = reordered(10);
    script.at(200).ack(6, &[(7, 15)]);
    assert_eq!(script.expire()[0], 6);
    assert_eq!(script.now, at(225));
    assert!(script.sender.in_recovery());
    assert_eq!(script.controller.desk().signals[0].lost.get(), MSS);
}

/// Controllers count losses by acknowledgments: a loss detected by time between two of them must not be
/// missing.
#[test]
fn late_segments_are_counted_once_by_the_next_acknowledgment() {
    let mut script = reordered(10);
    script.at(200).ack(6, &[(7, 15)]);
    assert_eq!(script.controller.last_ack().newly_lost.get(), 0);
    script.expire();
    script.at(230).ack(6, &[(7, 16)]);
    assert_eq!(script.controller.last_ack().newly_lost.get(), MSS);
    script.at(231).ack(6, &[(7, 16)]);
    assert_eq!(script.controller.last_ack().newly_lost.get(), 0);
}

/// Segments 6 to 15 are sent at 100 ms and all but the first arrive. The first is retransmitted at 225 ms,
/// and the original arrives at `late`.
fn with_spurious_retransmission() -> Script {
    let mut script = reordered(10);
    script.at(200).ack(6, &[(7, 16)]);
    assert_eq!(script.expire()[0], 6);
    script.at(230).ack(16, &[]);
    script.at(240).repeated = true;
    script.give(16 * MSS, &[]);
    script
}

#[test]
fn a_spurious_retransmission_widens_the_reordering_window_by_a_quarter() {
    let mut script = with_spurious_retransmission();
    let quarter = script.sender.rtt().minimum / 4;
    // The segments sent at 200 ms while the window allowed them are acknowledged at 340 ms, except the first.
    assert!(script.in_flight() > 2);
    script.at(340).give(16 * MSS, &[(17, 18)]);
    assert_eq!(script.sender.next_timer(), at(340) + quarter * 2);
    // Another duplicate SACK in the same round trip does not widen the window further.
    script.repeated = true;
    script.give(16 * MSS, &[(17, 19)]);
    assert_eq!(script.sender.next_timer(), at(340) + quarter * 2);
    // In the next round trip it does.
    script.ack(25, &[]);
    assert!(script.send().is_empty(), "all that may leave has left");
    let first = 25;
    script.at(440).repeated = true;
    script.give(first * MSS, &[(first + 1, first + 2)]);
    assert_eq!(script.sender.next_timer(), at(440) + quarter * 3);
    script.at(450).ack(first + 5, &[]);
    assert!(!script.sender.in_recovery());
}

#[test]
fn after_sixteen_recoveries_the_reordering_window_is_a_quarter_again() {
    let mut script = with_spurious_retransmission();
    let round_trip = Duration::from_millis(100);
    let (mut first, mut newest) = (16, 24);
    for recovery in 1..=17 {
        script.now += round_trip;
        script.give(first * MSS, &[(first + 1, first + 2)]);
        let wide = if recovery <= 16 { 2 } else { 1 };
        let quarter = script.sender.rtt().minimum / 4;
        assert_eq!(script.sender.next_timer(), script.now + quarter * wide, "recovery {recovery}");
        script.pass();
        assert!(script.sender.in_recovery(), "recovery {recovery}");
        // All segments sent arrive.
        let last = script.send().into_iter().max().unwrap_or(first);
        newest = newest.max(last);
        script.now += round_trip;
        script.give((newest + 1) * MSS, &[]);
        assert!(!script.sender.in_recovery());
        first = newest + 1;
        newest = script.send().into_iter().max().expect("the window is open");
    }
}

#[test]
fn each_hole_expires_at_its_own_time() {
    let mut script = Script::new(rack(), HALVE, 3);
    assert_eq!(script.send(), [0, 1, 2]);
    script.at(100).give(0, &[(1, 2)]);
    script.give(2 * MSS, &[]); // 0 arrived after 1
    script.at(110).send();
    script.at(120).give(2 * MSS, &[(4, 5)]);
    // 2 was sent at 0 and is overdue at once; 3 was sent at 110 ms, as was 4, which took 10 ms: the round
    // trip plus a quarter of it.
    assert_eq!(
        script.sender.next_timer(),
        at(110) + script.sender.rtt().minimum + script.sender.rtt().minimum / 4
    );
    assert!(script.sender.in_recovery());
    assert_eq!(script.controller.desk().signals[0].lost.get(), MSS);
}

#[test]
fn a_lost_retransmission_expires_as_well() {
    let mut script = Script::new(rack(), HALVE, 10);
    script.send();
    script.at(100);
    assert_eq!(script.ack(0, &[(1, 4)])[0], 0);
    // The sender was limited by the window and continues; the delivery at 200 ms shows that the
    // retransmission from 100 ms is lost.
    let mut new = Vec::new();
    for right in 5..=10 {
        new.extend(script.ack(0, &[(1, right)]));
    }
    assert!(new.contains(&10), "{new:?}");
    let again = script.at(200).ack(0, &[(1, 11)]);
    assert!(again.contains(&0), "without reordering there is no waiting: {again:?}");
    assert_eq!(script.sender.counters().retransmitted_packets, 2);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
}

#[test]
fn retransmissions_do_not_indicate_reordering() {
    let mut script = Script::new(rack(), HALVE, 10);
    script.send();
    script.at(100).ack(0, &[(1, 4)]);
    // The retransmission of 0 fills the hole; no original was overtaken.
    script.at(200).ack(10, &[]);
    script.at(300);
    let first = 10;
    let sent = script.send();
    assert!(sent.len() >= 4 || script.in_flight() >= 4);
    assert_eq!(
        script.ack(first, &[(first + 1, first + 4)])[0],
        first,
        "three segments above a hole reveal the loss at once"
    );
}

#[test]
fn a_timeout_cancels_the_reordering_timer() {
    let mut script = reordered(10);
    script.at(200).ack(6, &[(7, 15)]);
    let due = script.sender.next_timer();
    assert_eq!(due, at(225));
    // The timer was not checked in time; both deadlines expire.
    script.now = at(5000);
    script.sender.on_timer(at(5000), &mut script.notes);
    assert_eq!(script.sender.counters().timeouts, 1);
    assert!(script.sender.next_timer() > at(5000));
}

#[test]
fn rack_requires_selective_acknowledgments() {
    for recovery in [Recovery::Newreno, Recovery::Reno] {
        let config = SenderConfig { recovery, ..rack() };
        let handle = Handle::new(HALVE, Bytes::new(MSS));
        let refused = Sender::new(config, handle.controller()).err();
        assert_eq!(refused, Some(ConfigError::RackWithoutSack));
        assert_eq!(refused.map(ConfigError::parameter), Some("loss_detection"));
    }
}

#[test]
fn blocks_of_one_acknowledgment_do_not_indicate_reordering() {
    let mut script = Script::new(rack(), HALVE, 10);
    script.send();
    // The newer block comes first, because acknowledgments were lost.
    assert!(script.at(100).ack(0, &[(5, 6), (3, 4)]).iter().all(|&segment| segment > 9));
    assert_eq!(script.ack(0, &[(5, 7), (3, 4)])[0], 0, "three segments above a hole reveal the loss at once");
}

#[test]
fn in_recovery_one_segment_above_a_hole_reveals_a_loss_at_once() {
    let mut script = Script::new(rack(), HALVE, 10);
    script.send();
    script.at(100);
    let limited = [script.ack(0, &[(1, 2)]), script.ack(0, &[(1, 3)])].concat();
    assert_eq!(limited, [10, 11], "limited transmit");
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    // Of the two segments sent at 100 ms the second has arrived, and the recovery extends to it.
    script.at(200).give(10 * MSS, &[(11, 12)]);
    assert!(script.sender.in_recovery());
    assert_eq!(script.controller.last_ack().newly_lost.get(), MSS);
}

#[test]
fn three_short_segments_above_a_hole_reveal_a_loss_at_once() {
    let mut script = Script::idle(rack(), HALVE, 10);
    for _ in 0..6 {
        script.sender.offer(Bytes::new(10));
        assert_eq!(script.segments().len(), 1);
    }
    script.at(100);
    for right in 2..=4 {
        assert!(!script.sender.in_recovery(), "{right}");
        let mut blocks = airpath_transport::SackBlocks::new();
        assert!(blocks.push(0, 10, right * 10));
        let ack = airpath_transport::Acknowledgment {
            cumulative: 0,
            sack: blocks,
            repeated: false,
            receive_window: Bytes::MAX,
            timestamp: None,
            timestamp_echo: None,
            ece: false,
            marked: 0,
            path: airpath_model::PathHeader::None,
        };
        script.sender.on_ack(at(100), &ack, &mut script.notes);
    }
    assert!(script.sender.in_recovery());
}
