//! Explicit congestion notification (RFC 3168).

use airpath_model::{CongestionSignal, Ecn};
use airpath_transport::{
    ConfigError, EcnMode, Receiver, ReceiverConfig, Recovery, Segment, Sender, SenderConfig,
};

use crate::controller::{Handle, Rule};
use crate::script::{MSS, Script, at, config};

const HALVE: Rule = Rule::Aimd { grow: false };

fn marked() -> SenderConfig {
    SenderConfig { ecn: EcnMode::Classic, ..config(Recovery::Sack) }
}

/// Delivers an acknowledgment of segments below `cumulative`, with ECE; returns the segments sent with CWR.
fn echo(script: &mut Script, cumulative: u64) -> Vec<u64> {
    script.ece = true;
    script.give(cumulative * MSS, &[]);
    script.segments().iter().filter(|segment| segment.cwr).map(|segment| segment.sequence / MSS).collect()
}

#[test]
fn one_reduction_and_one_cwr_for_a_window_of_data() {
    let mut script = Script::new(marked(), HALVE, 10);
    assert!(script.segments().iter().all(|segment| segment.ecn == Ecn::Ect0 && !segment.cwr));
    assert!(script.controller.desk().sent.iter().all(|event| event.mss.get() == MSS));
    script.at(100);
    let mut cwr = Vec::new();
    for cumulative in 1..=10 {
        cwr.extend(echo(&mut script, cumulative));
    }
    assert_eq!(script.controller.signals(), [CongestionSignal::EcnCe]);
    assert_eq!(script.sender.counters().ecn_reductions, 1);
    assert_eq!(cwr, [10], "the first new segment after the reduction");
    // Segment 10 carried CWR. An echo beyond it is caused by a new mark.
    cwr = echo(script.at(200), 11);
    assert_eq!(script.controller.signals().len(), 2);
    assert_eq!(cwr.len(), 0, "the window is full");
    script.ece = false;
    script.at(210).give(14 * MSS, &[]);
    assert_eq!(script.segments().iter().filter(|segment| segment.cwr).count(), 1);
}

#[test]
fn a_loss_in_the_window_of_an_echo_reduces_no_further() {
    let mut script = Script::new(marked(), HALVE, 20);
    script.send();
    script.at(100);
    echo(&mut script, 1);
    script.ece = false;
    let sent = script.ack(1, &[(2, 6)]);
    assert_eq!(sent, [1]);
    assert!(script.sender.in_recovery());
    assert_eq!(script.controller.signals(), [CongestionSignal::EcnCe]);
}

#[test]
fn an_echo_in_a_recovery_reduces_no_further() {
    let mut script = Script::new(marked(), HALVE, 10);
    script.send();
    script.at(100).ack(0, &[(1, 4)]);
    assert!(script.sender.in_recovery());
    script.ece = true;
    for right in 5..=10 {
        script.ack(0, &[(1, right)]);
        let told = script.controller.last_ack();
        assert!(told.in_recovery && told.congestion_experienced);
    }
    script.ece = false;
    script.at(200).ack(10, &[]);
    let told = script.controller.last_ack();
    assert!(!told.in_recovery && !told.congestion_experienced);
    assert_eq!(script.controller.signals(), [CongestionSignal::Loss]);
    assert!(!script.sender.in_recovery());
}

#[test]
fn retransmissions_are_not_ecn_capable_but_carry_cwr() {
    let mut script = Script::new(marked(), HALVE, 10);
    script.send();
    script.at(100).give(0, &[(1, 10)]);
    let sent = script.segments();
    assert!(sent[0].retransmission && sent[0].ecn == Ecn::NotEct && sent[0].cwr, "every reduction sets CWR");
    assert!(!sent[1].retransmission && sent[1].ecn == Ecn::Ect0 && !sent[1].cwr);
    assert!(sent[2..].iter().all(|segment| !segment.cwr));
}

#[test]
fn without_ecn_no_segment_is_ecn_capable_and_echoes_are_ignored() {
    let mut script = Script::new(config(Recovery::Sack), HALVE, 10);
    assert!(script.segments().iter().all(|segment| segment.ecn == Ecn::NotEct));
    assert!(echo(&mut script, 1).is_empty());
    assert!(script.controller.signals().is_empty());
    let handle = Handle::new(HALVE, airpath_model::Bytes::new(MSS));
    handle.desk().needs.ecn = true;
    let refused = Sender::new(config(Recovery::Sack), handle.controller());
    assert_eq!(refused.err(), Some(ConfigError::EcnNeeded));
}

fn echoing_receiver() -> Receiver {
    Receiver::new(ReceiverConfig {
        ecn: EcnMode::Classic,
        delayed_ack_segments: 1,
        ..ReceiverConfig::default()
    })
}

/// Delivers segment `k`; returns ECE of the immediate acknowledgment, if any.
fn answer(receiver: &mut Receiver, k: u64, ecn: Ecn, cwr: bool) -> Option<bool> {
    let segment = Segment {
        sequence: k * MSS,
        payload: MSS as u32,
        retransmission: false,
        ecn,
        cwr,
        timestamp: None,
        timestamp_echo: None,
        path: airpath_model::PathHeader::None,
    };
    receiver.on_segment(at(k), &segment);
    receiver.poll_ack(at(k)).map(|ack| ack.ece)
}

#[test]
fn the_first_marked_and_the_first_unmarked_segment_are_acknowledged_at_once() {
    let mut receiver = Receiver::new(ReceiverConfig { ecn: EcnMode::Classic, ..ReceiverConfig::default() });
    let mut answer = |k, ecn| answer(&mut receiver, k, ecn, false);
    assert_eq!((answer(0, Ecn::Ect0), answer(1, Ecn::Ect0)), (None, Some(false)));
    assert_eq!(answer(2, Ecn::Ce), Some(true), "the first of two");
    assert_eq!((answer(3, Ecn::Ce), answer(4, Ecn::Ce)), (None, Some(true)));
    assert_eq!(answer(5, Ecn::Ect0), Some(true));
    assert_eq!((answer(6, Ecn::Ect0), answer(7, Ecn::Ect0)), (None, Some(true)));
}

#[test]
fn the_receiver_echoes_until_cwr() {
    let mut receiver = echoing_receiver();
    let mut answer = |k, ecn, cwr| answer(&mut receiver, k, ecn, cwr);
    assert_eq!(answer(0, Ecn::Ect0, false), Some(false));
    assert_eq!(answer(1, Ecn::Ce, false), Some(true));
    assert_eq!(answer(2, Ecn::Ect0, false), Some(true));
    assert_eq!(answer(3, Ecn::Ect0, false), Some(true));
    assert_eq!(answer(4, Ecn::Ect0, true), Some(false));
    assert_eq!(answer(5, Ecn::Ect0, false), Some(false));
    assert_eq!(answer(6, Ecn::Ce, true), Some(true), "a new mark on the segment that carries CWR");
}

/// The window does not grow while the receiver echoes, and after a timeout all segments that could carry CWR
/// may be retransmissions.
#[test]
fn after_a_timeout_with_an_echo_pending_the_receiver_ends_it() {
    let mut receiver = echoing_receiver();
    let mut script = Script::new(marked(), HALVE, 10);
    let first = script.segments()[0];
    script.at(100);
    receiver.on_segment(at(50), &Segment { ecn: Ecn::Ce, ..first });
    assert!(receiver.poll_ack(at(50)).unwrap().ece);
    assert!(echo(&mut script, 1).is_empty(), "no new segment fits that could carry CWR");
    script.pass();
    let again = script.segments()[0];
    assert!(again.retransmission);
    receiver.on_segment(script.now, &again);
    assert!(!receiver.poll_ack(script.now).unwrap().ece);
}
