//! The retransmission timer (RFC 6298) and spurious timeouts (RFC 3522).

use airpath_model::{CongestionSignal, Duration, Measurement, Timestamp};
use airpath_transport::{Recovery, RtoFloor, SenderConfig};

use crate::controller::Rule;
use crate::script::{MSS, Script, at, config};

const HALVE: Rule = Rule::Aimd { grow: false };

fn without_timestamps() -> SenderConfig {
    SenderConfig { timestamps: false, spurious_timeout_undo: false, ..config(Recovery::Sack) }
}

#[test]
fn the_timeout_doubles_up_to_its_ceiling() {
    let mut script = Script::new(config(Recovery::Prr), HALVE, 1);
    assert_eq!(script.send(), [0]);
    let mut expiries = Vec::new();
    for _ in 0..9 {
        expiries.push(script.sender.next_timer());
        assert_eq!(script.expire(), [0]);
    }
    assert_eq!(expiries, [1, 3, 7, 15, 31, 63, 123, 183, 243].map(|seconds| at(1000 * seconds)));
    let consecutive: Vec<u32> =
        script.controller.desk().signals.iter().map(|event| event.consecutive).collect();
    assert_eq!(consecutive, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(script.sender.counters().timeouts, 9);
    assert_eq!(script.sender.counters().retransmitted_packets, 9);
}

#[test]
fn the_timer_follows_the_samples() {
    let floor = SenderConfig { rto_floor: RtoFloor::OnTimeout, ..config(Recovery::Prr) };
    let mut script = Script::new(floor, Rule::Fixed, 1);
    script.send();
    assert_eq!(script.at(100).ack(1, &[]), [1]);
    assert_eq!(script.sender.next_timer(), at(400)); // 100 + 4 * 50
    assert_eq!(script.expire(), [1]);
    assert_eq!(script.sender.next_timer(), at(1000));
}

#[test]
fn selective_acknowledgments_do_not_restart_the_timer() {
    let mut script = Script::new(config(Recovery::Sack), Rule::Fixed, 10);
    script.send();
    assert_eq!(script.sender.next_timer(), at(1000));
    script.at(102).ack(0, &[(1, 2)]);
    script.at(103).ack(0, &[(1, 3)]);
    assert_eq!(script.sender.next_timer(), at(1000));
    script.at(104).ack(0, &[(1, 4)]);
    assert!(script.sender.in_recovery());
    let retransmitted = at(104) + script.sender.retransmission_timeout();
    for k in 5..9 {
        assert_eq!(script.sender.next_timer(), retransmitted, "only the fast retransmission did");
        script.at(100 + k).ack(0, &[(1, k)]);
    }
    script.at(200).ack(10, &[]);
    assert_eq!(script.sender.next_timer(), at(200) + script.sender.retransmission_timeout());
}

/// RFC 6298, rule 5.3. The restriction to the first partial acknowledgment applies to senders without SACK
/// (RFC 6582).
#[test]
fn with_sack_every_partial_acknowledgment_restarts_the_timer() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 20);
    script.send();
    // Segments 0, 4 and 8 are lost.
    script.at(100).ack(0, &[(9, 20), (5, 8), (1, 4)]);
    for (ms, cumulative, blocks) in [(200, 4, &[(9, 20), (5, 8)][..]), (300, 8, &[(9, 20)])] {
        script.at(ms).ack(cumulative, blocks);
        assert!(script.sender.in_recovery());
        assert_eq!(script.sender.next_timer(), at(ms) + script.sender.retransmission_timeout());
    }
}

#[test]
fn the_timer_stops_with_nothing_outstanding() {
    let mut script = Script::idle(config(Recovery::Prr), Rule::Fixed, 10);
    assert_eq!(script.sender.next_timer(), Timestamp::NEVER);
    script.sender.offer(airpath_model::Bytes::new(3000));
    script.send();
    assert_eq!(script.sender.next_timer(), at(1000));
    assert!(script.at(50).ack(3, &[]).is_empty());
    assert_eq!(script.sender.next_timer(), Timestamp::NEVER);
    assert!(!script.sender.is_complete());
    script.sender.finish();
    assert!(script.sender.is_complete());
}

#[test]
fn retransmitted_segments_give_no_sample_without_timestamps() {
    let mut script = Script::new(without_timestamps(), Rule::Fixed, 1);
    script.send();
    script.expire();
    assert_eq!(script.at(1100).ack(1, &[]), [1]);
    assert_eq!(script.controller.last_ack().rtt_sample, None);
    // The back-off remains until a new segment has been timed.
    assert_eq!(script.sender.retransmission_timeout(), Duration::from_secs(2));
    assert_eq!(script.at(1200).ack(2, &[]), [2]);
    assert_eq!(script.controller.last_ack().rtt_sample, Some(Duration::from_millis(100)));
    assert_eq!(script.sender.retransmission_timeout(), Duration::from_millis(300));
}

#[test]
fn timestamps_time_retransmitted_segments() {
    let mut script = Script::new(config(Recovery::Sack), Rule::Fixed, 1);
    script.send();
    script.expire();
    script.echo = Some(at(1000));
    script.at(1080).ack(1, &[]);
    assert_eq!(script.controller.last_ack().rtt_sample, Some(Duration::from_millis(80)));
}

#[test]
fn samples_by_timestamps_are_whole_ticks() {
    let timestamp_resolution = Duration::from_millis(20);
    for (acknowledged, sample) in [(1019, 20), (1039, 20), (1041, 40)] {
        let mut script =
            Script::new(SenderConfig { timestamp_resolution, ..config(Recovery::Sack) }, Rule::Fixed, 1);
        script.send();
        script.expire();
        script.echo = Some(at(1000));
        script.at(acknowledged).ack(1, &[]);
        assert_eq!(script.controller.last_ack().rtt_sample, Some(Duration::from_millis(sample)));
    }
}

#[test]
fn after_a_timeout_all_data_not_sacked_is_retransmitted() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 6);
    script.send();
    script.at(100).ack(0, &[(4, 6)]); // two segments: no loss found; limited transmit sends 6 and 7
    assert_eq!(script.expire(), [0]);
    assert_eq!(script.in_flight(), 1);
    assert_eq!(script.sender.counters().recoveries, 0);
    // A window of four segments, once the first has arrived: the receiver has 4 and 5.
    script.controller.desk().control.window = airpath_model::Bytes::new(4000);
    script.echo = Some(at(1000));
    assert_eq!(script.at(1100).ack(1, &[(4, 6)]), [1, 2, 3, 6]);
    assert_eq!(script.controller.signals(), [CongestionSignal::Timeout]);
}

#[test]
fn the_recorder_receives_the_end_of_a_fast_recovery_but_not_of_a_timeout() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    let left =
        |script: &Script| script.notes.0.iter().filter(|note| **note == Measurement::RecoveryLeft).count();
    script.send();
    script.at(100).ack(0, &[(1, 10)]);
    assert_eq!((script.sender.in_recovery(), left(&script)), (true, 0));
    script.at(200).ack(14, &[]);
    assert_eq!((script.sender.in_recovery(), left(&script)), (false, 1));
    let after = script.expire().len() as u64;
    assert_eq!((script.sender.counters().timeouts, after), (1, 1));
    script.give(19 * MSS, &[]);
    assert_eq!(script.in_flight(), 0, "all is repaired");
    assert_eq!(left(&script), 1);
}

/// Ten segments, acknowledged so late that the timer expires. The echo reveals it.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    script.send();
    assert_eq!(script.expire(), [0]);
    assert_eq!(script.sender.control().window.get(), 1000);
    script.echo = Some(at(0));
    let sent = script.at(1010).ack(2, &[]);
    assert_eq!(sent, [10, 11], "new data, nothing again");
    assert_eq!(script.controller.desk().spurious, 1);
    assert_eq!(script.sender.counters().spurious_timeouts, 1);
    assert_eq!(script.sender.control().window.get(), 10_000);
    assert_eq!(script.in_flight(), 10);
    let rtt = Duration::from_millis(1010);
    assert_eq!(script.sender.retransmission_timeout(), rtt * 3, "the back-off is gone: SRTT + 4 SRTT/2");
    assert_eq!(script.at(1020).ack(10, &[]).len(), 8);
    assert_eq!(script.sender.counters().retransmitted_packets, 1);
}

#[test]
fn a_genuine_timeout_is_not_undone() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    script.send();
    assert_eq!(script.expire(), [0]);
    script.echo = Some(at(1000)); // the retransmission
    assert_eq!(script.at(1100).ack(1, &[]), [1]);
    // A later echo of an old timestamp is no longer evidence.
    script.echo = Some(at(0));
    script.at(1200).ack(2, &[]);
    assert_eq!(script.sender.counters().spurious_timeouts, 0);
    assert_eq!(script.controller.desk().spurious, 0);
}

#[test]
fn without_undo_a_spurious_timeout_stays() {
    let mut script =
        Script::new(SenderConfig { spurious_timeout_undo: false, ..config(Recovery::Sack) }, HALVE, 10);
    script.send();
    script.expire();
    script.echo = Some(at(0));
    assert_eq!(script.at(1010).ack(1, &[]), [1]);
    assert_eq!(script.sender.counters().spurious_timeouts, 0);
}

/// The timeout is spurious, but some segments are really lost: undoing must not forget them.
#[test]
fn genuine_losses_survive_an_undone_timeout() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    script.send();
    script.expire();
    script.echo = Some(at(0));
    // Segments 0 and 1 were only late; 2 is lost; 3 to 5 arrived.
    let sent = script.at(1010).ack(2, &[(3, 6)]);
    assert_eq!(sent.first(), Some(&2));
    assert!(script.sender.in_recovery());
    assert_eq!(script.controller.signals(), [CongestionSignal::Timeout, CongestionSignal::Loss]);
}

/// A spurious timeout in a recovery: the recovery continues, without a second reduction.
#[test]
fn an_undone_timeout_restores_the_interrupted_recovery() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    script.send();
    script.echo = Some(at(0));
    script.at(100).ack(1, &[]);
    assert!(script.at(110).ack(1, &[(2, 5)]).contains(&1));
    assert!(script.sender.in_recovery());
    assert_eq!(script.sender.next_timer(), at(110) + script.sender.retransmission_timeout());
    script.expire();
    assert!(!script.sender.in_recovery());
    script.echo = Some(at(110)); // the fast retransmission of segment 1, sent earlier
    script.at(500).ack(5, &[]);
    assert!(script.sender.in_recovery());
    script.at(510).ack(11, &[]);
    assert!(!script.sender.in_recovery());
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss, CongestionSignal::Timeout]);
    assert_eq!(script.sender.counters().recoveries, 1);
}

#[test]
fn an_acknowledgment_of_new_data_resets_the_timeout_count() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 1);
    script.send();
    script.expire();
    script.expire();
    script.at(3100).ack(1, &[]);
    script.expire();
    let consecutive: Vec<u32> =
        script.controller.desk().signals.iter().map(|event| event.consecutive).collect();
    assert_eq!(consecutive, [1, 2, 1]);
}

/// The first of two retransmissions is acknowledged after the second was sent: the timeout was not spurious.
#[test]
fn the_timestamp_echo_is_compared_with_the_first_retransmission() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 4);
    script.send();
    script.expire();
    script.expire();
    script.echo = Some(at(1000));
    script.at(3050).ack(1, &[]);
    assert_eq!(script.sender.counters().spurious_timeouts, 0);
}

#[test]
fn rate_samples_count_losses_revealed_by_acknowledgments_and_timeouts() {
    let lost = |script: &Script| script.controller.last_ack().rate.map(|rate| rate.lost.get());
    let mut script = Script::new(config(Recovery::Sack), Rule::Fixed, 10);
    script.send();
    script.at(100).ack(0, &[(2, 5)]);
    assert_eq!(lost(&script), Some(2000));
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    script.send();
    script.expire(); // retransmits 0; 1 to 9 are only assumed lost
    script.at(1010).ack(0, &[(8, 10)]);
    assert_eq!(lost(&script), Some(10_000));
}
