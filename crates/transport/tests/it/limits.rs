//! Limits of a sender (windows, the application, the pacer) and their reports to the controller.

use airpath_model::{Bytes, Pacing, Phase, Rate, Timestamp};
use airpath_transport::{ConfigError, Recovery, Sender, SenderConfig};

use crate::controller::{Handle, Rule};
use crate::script::{MSS, Script, at, config};

#[test]
fn the_receive_window_is_obeyed() {
    let small = SenderConfig { receive_window: Bytes::new(3_500), ..config(Recovery::Prr) };
    let mut script = Script::new(small, Rule::Fixed, 10);
    assert_eq!(script.send(), [0, 1, 2]);
    assert_eq!(script.at(100).ack(1, &[]), [3]);
    assert!(!script.controller.last_ack().window_limited);
    script.receive_window = Bytes::new(5_000);
    assert_eq!(script.at(200).ack(2, &[]), [4, 5, 6]);
    script.receive_window = Bytes::ZERO;
    assert!(script.at(300).ack(3, &[]).is_empty());
}

#[test]
fn the_right_edge_never_moves_back() {
    let small = SenderConfig { receive_window: Bytes::new(7_000), ..config(Recovery::Prr) };
    let mut script = Script::new(small, Rule::Fixed, 3);
    assert_eq!(script.send(), [0, 1, 2]);
    script.receive_window = Bytes::ZERO;
    assert_eq!(script.at(100).ack(3, &[]), [3, 4, 5]);
    assert_eq!(script.at(200).ack(6, &[]), [6]);
    assert!(script.at(300).ack(7, &[]).is_empty());
}

#[test]
fn a_receive_window_below_a_segment_is_used_when_nothing_is_outstanding() {
    let small = SenderConfig { receive_window: Bytes::new(400), ..config(Recovery::Prr) };
    let mut script = Script::new(small, Rule::Fixed, 10);
    assert_eq!(script.segments().iter().map(|segment| segment.payload).collect::<Vec<_>>(), [400]);
    script.at(100).give(400, &[]);
    assert_eq!(script.segments().iter().map(|segment| segment.payload).collect::<Vec<_>>(), [400]);
}

#[test]
fn a_window_below_a_segment_allows_one_at_a_time_and_zero_none() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Fixed, 0);
    assert!(script.send().is_empty());
    script.controller.desk().control.window = Bytes::new(300);
    assert_eq!(script.send(), [0]);
    assert_eq!(script.at(100).ack(1, &[]), [1]);
    assert_eq!(script.expire(), [1]);
}

#[test]
fn a_stopped_flow_retransmits_but_sends_no_new_data() {
    let mut script = Script::new(config(Recovery::Sack), Rule::Fixed, 10);
    script.send();
    script.sender.stop();
    assert_eq!(script.at(100).ack(0, &[(1, 5)]).first(), Some(&0));
    assert!(script.at(200).ack(5, &[]).is_empty());
    assert!(!script.sender.is_complete());
    script.at(300).ack(10, &[]);
    assert!(script.sender.is_complete());
    assert_eq!(script.sender.next_timer(), Timestamp::NEVER);
}

#[test]
fn the_controller_receives_the_flight_size_at_the_send_time() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Fixed, 5);
    script.send();
    script.at(100).ack(2, &[]);
    assert_eq!(script.controller.last_ack().in_flight_at_send, Bytes::new(2 * MSS), "the second of five");
    script.at(150).ack(2, &[]);
    assert_eq!(script.controller.last_ack().in_flight_at_send, Bytes::ZERO, "nothing was acknowledged");
    script.at(200).ack(7, &[]);
    assert_eq!(
        script.controller.last_ack().in_flight_at_send,
        Bytes::new(5 * MSS),
        "sent with three in flight"
    );
}

#[test]
fn the_controller_learns_that_the_application_had_no_data() {
    let mut script = Script::idle(config(Recovery::Prr), Rule::Fixed, 10);
    script.send();
    script.sender.offer(Bytes::MAX);
    script.send();
    assert!(script.controller.desk().sent.iter().all(|event| event.app_limited));
    script.at(100).ack(10, &[]);
    let last = *script.controller.desk().sent.last().expect("ten more");
    assert!(!last.app_limited, "the gap has been delivered");
}

/// Sends one flight of `used` segments under a window of ten; returns whether it is window-limited.
fn limited(phase: Phase, used: u64) -> bool {
    let mut script = Script::idle(config(Recovery::Prr), Rule::Fixed, 10);
    script.controller.desk().phase = phase;
    script.sender.offer(Bytes::new(used * MSS));
    script.send();
    script.at(100).ack(1, &[]);
    script.controller.last_ack().window_limited
}

#[test]
fn window_limited_is_set_if_the_window_held_data_back() {
    assert!(limited(Phase::CongestionAvoidance, 100));
    assert!(limited(Phase::CongestionAvoidance, 11));
    assert!(!limited(Phase::CongestionAvoidance, 10), "nothing was held back");
    assert!(!limited(Phase::CongestionAvoidance, 6));
    assert!(limited(Phase::SlowStart, 100));
    assert!(limited(Phase::SlowStart, 6), "more than half was used");
    assert!(!limited(Phase::SlowStart, 5));
}

#[test]
fn window_limited_ends_with_its_flight() {
    let mut script = Script::idle(config(Recovery::Prr), Rule::Fixed, 4);
    script.sender.offer(Bytes::new(5 * MSS));
    script.send();
    assert_eq!(script.at(100).ack(1, &[]), [4]);
    assert!(script.controller.last_ack().window_limited);
    script.ack(4, &[]);
    assert!(script.controller.last_ack().window_limited);
    script.ack(5, &[]);
    assert!(!script.controller.last_ack().window_limited, "segment 4 left with room to spare");
}

/// In slow start the use of the window is that of the last round, not of the best one.
#[test]
fn a_window_no_longer_used_stops_being_the_limit() {
    let mut script = Script::idle(config(Recovery::Prr), Rule::Fixed, 10);
    script.controller.desk().phase = Phase::SlowStart;
    script.sender.offer(Bytes::new(8 * MSS));
    script.send();
    script.at(100).ack(8, &[]);
    assert!(script.controller.last_ack().window_limited);
    for round in 1..=3 {
        script.sender.offer(Bytes::new(2 * MSS));
        script.at(200 * round).send();
        script.at(200 * round + 100).ack(8 + 2 * round, &[]);
    }
    assert!(!script.controller.last_ack().window_limited);
}

#[test]
fn rounds_are_counted_per_packet() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Fixed, 4);
    script.send();
    let mut rounds = Vec::new();
    for cumulative in 1..=9 {
        script.at(100 * cumulative).ack(cumulative, &[]);
        rounds.push(script.controller.last_ack().round);
    }
    assert_eq!(rounds, [1, 1, 1, 1, 2, 2, 2, 2, 3]);
}

#[test]
fn rate_samples_contain_the_application_limit() {
    let mut script = Script::idle(config(Recovery::Prr), Rule::Fixed, 10);
    let limited = |script: &Script| script.controller.last_ack().rate.map(|rate| rate.app_limited);
    script.sender.offer(Bytes::new(2 * MSS));
    assert_eq!(script.send(), [0, 1]);
    script.sender.offer(Bytes::new(MSS));
    assert_eq!(script.at(10).send(), [2]);
    script.at(100).ack(2, &[]);
    assert_eq!(limited(&script), Some(false), "there was data when it left");
    script.at(110).ack(3, &[]);
    assert_eq!(limited(&script), Some(true));
    script.sender.offer(Bytes::MAX);
    script.at(120).send();
    script.at(220).ack(5, &[]);
    assert_eq!(limited(&script), Some(true), "the first flight after the pause");
    script.at(320).ack(13, &[]);
    script.at(420).ack(15, &[]);
    assert_eq!(limited(&script), Some(false));
}

#[test]
fn the_pacing_rate_is_obeyed() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Fixed, 100);
    // One segment per millisecond, bursts of three.
    script.controller.desk().control.pacing = Pacing::At(Rate::from_bps(8_000_000));
    script.controller.desk().control.quantum = Bytes::new(3 * MSS);
    let mut left: Vec<u64> = Vec::new();
    script.at(50);
    for ms in [50, 50, 50, 51, 52, 53, 54] {
        if left.last().is_some_and(|&last| last < ms) {
            assert_eq!(script.sender.next_timer(), at(ms));
        }
        script.at(ms);
        left.extend(script.segments().iter().map(|_| ms));
    }
    assert_eq!(left, [50, 50, 50, 51, 52, 53, 54]);
    assert_eq!(script.sender.pacing_rate(), Some(Rate::from_bps(8_000_000)));
    // After an idle period no more than the quantum is sent at once.
    assert_eq!(script.at(80).ack(7, &[]).len(), 3);
}

#[test]
fn a_window_is_paced_only_when_configured_and_after_a_sample() {
    for pacing in [false, true] {
        let mut script = Script::new(SenderConfig { pacing, ..config(Recovery::Prr) }, Rule::Fixed, 10);
        script.controller.desk().control.pacing = Pacing::FromWindow;
        script.controller.desk().control.quantum = Bytes::new(MSS);
        assert_eq!(script.send().len(), 10, "no round trip was measured yet");
        let sent = script.at(120).ack(10, &[]).len();
        if pacing {
            assert_eq!(sent, 1);
            // 1.2 times 10 segments in 120 ms; rates are whole bit/s, rounded down.
            let rate = Rate::from_bps(799_999);
            assert_eq!(script.sender.pacing_rate(), Some(rate));
            assert_eq!(script.sender.next_timer(), at(120) + rate.time_for(Bytes::new(MSS)));
        } else {
            assert_eq!(sent, 10);
        }
    }
}

#[test]
fn acknowledgments_of_unsent_data_are_ignored() {
    let mut script = Script::new(config(Recovery::Prr), Rule::Fixed, 3);
    script.send();
    assert!(script.at(10).ack(4, &[]).is_empty());
    assert!(script.controller.desk().acks.is_empty());
    // Blocks beyond the data sent, and empty blocks, are ignored.
    script.ack(0, &[(2, 900), (5, 5)]);
    assert_eq!(script.controller.last_ack().acked.get(), MSS);
}

#[test]
fn inconsistent_configurations_are_rejected() {
    let refused = |config: SenderConfig| {
        Sender::new(config, Handle::new(Rule::Fixed, Bytes::new(1)).controller()).err()
    };
    let good = SenderConfig::default();
    assert_eq!(refused(good), None);
    assert_eq!(refused(SenderConfig { mss: Bytes::ZERO, ..good }), Some(ConfigError::Mss(0)));
    assert_eq!(refused(SenderConfig { min_rto: good.max_rto * 2, ..good }), Some(ConfigError::MinRto));
    assert_eq!(
        refused(SenderConfig { initial_rto: good.max_rto * 2, ..good }),
        Some(ConfigError::InitialRto)
    );
    assert_eq!(refused(SenderConfig { timestamps: false, ..good }), Some(ConfigError::UndoWithoutTimestamps));
}

#[test]
fn a_controller_that_needs_the_receivers_clock_is_rejected_without_timestamps() {
    let handle = Handle::new(Rule::Fixed, Bytes::new(MSS));
    handle.desk().needs.receiver_time = true;
    let without = SenderConfig { timestamps: false, spurious_timeout_undo: false, ..config(Recovery::Prr) };
    assert_eq!(Sender::new(without, handle.controller()).err(), Some(ConfigError::TimestampsNeeded));
    assert!(Sender::new(config(Recovery::Prr), handle.controller()).is_ok());
}
