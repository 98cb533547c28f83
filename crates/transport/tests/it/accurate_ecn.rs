//! Accurate ECN: the receiver counts marked segments; the sender reports the count to its controller.

use airpath_model::{Bytes, CongestionSignal, Ecn};
use airpath_transport::{
    ConfigError, EcnMode, Receiver, ReceiverConfig, Recovery, Segment, Sender, SenderConfig,
};

use crate::controller::{Handle, Rule};
use crate::script::{MSS, Script, at, config};

const HALVE: Rule = Rule::Aimd { grow: false };

fn accurate() -> SenderConfig {
    SenderConfig { ecn: EcnMode::Accurate, ..config(Recovery::Sack) }
}

fn receiver() -> Receiver {
    Receiver::new(ReceiverConfig { ecn: EcnMode::Accurate, ..ReceiverConfig::default() })
}

/// Delivers segment `k`; returns ECE and the mark count of the immediate acknowledgment, if any.
fn answer(receiver: &mut Receiver, k: u64, ecn: Ecn) -> Option<(bool, u16)> {
    let segment = Segment {
        sequence: k * MSS,
        payload: MSS as u32,
        retransmission: false,
        ecn,
        cwr: false,
        timestamp: None,
        timestamp_echo: None,
        path: airpath_model::PathHeader::None,
    };
    receiver.on_segment(at(k), &segment);
    receiver.poll_ack(at(k)).map(|ack| (ack.ece, ack.marked))
}

#[test]
fn the_receiver_counts_marked_segments_and_echoes_nothing() {
    let mut receiver = receiver();
    let mut answer = |k, ecn| answer(&mut receiver, k, ecn);
    assert_eq!((answer(0, Ecn::Ect1), answer(1, Ecn::Ect1)), (None, Some((false, 0))));
    assert_eq!(answer(2, Ecn::Ce), Some((false, 1)), "the first mark is reported at once");
    assert_eq!((answer(3, Ecn::Ce), answer(4, Ecn::Ce)), (None, Some((false, 3))));
    assert_eq!(answer(5, Ecn::Ect1), Some((false, 3)), "and the first segment without one");
}

#[test]
fn the_counter_wraps_around() {
    let mut receiver = receiver();
    let last = (0..65_538).filter_map(|k| answer(&mut receiver, k, Ecn::Ce)).last();
    assert_eq!(last, Some((false, 1)), "the first is acknowledged alone, then every second one");
}

#[test]
fn every_segment_is_ect_1_and_none_has_cwr() {
    let mut script = Script::new(accurate(), HALVE, 10);
    assert!(script.segments().iter().all(|segment| segment.ecn == Ecn::Ect1));
    script.at(100).give(0, &[(1, 10)]);
    let sent = script.segments();
    assert!(sent[0].retransmission, "of retransmissions too");
    assert!(sent.iter().all(|segment| segment.ecn == Ecn::Ect1 && !segment.cwr));
}

#[test]
fn the_controller_receives_the_marked_bytes_and_one_signal_per_window() {
    let mut script = Script::new(accurate(), HALVE, 10);
    script.send();
    script.at(100);
    let mut told = Vec::new();
    for (cumulative, marked) in [(1, 0), (2, 1), (4, 3), (6, 3), (8, 4)] {
        script.marked = marked;
        script.ack(cumulative, &[]);
        let ack = script.controller.last_ack();
        assert_eq!(ack.congestion_experienced, !ack.marked.is_zero());
        told.push(ack.marked.get());
    }
    assert_eq!(told, [0, MSS, 2 * MSS, 0, MSS]);
    assert_eq!(script.controller.signals(), [CongestionSignal::EcnCe]);
    assert_eq!(script.sender.counters().ecn_reductions, 1);
    script.marked = 5;
    script.at(200).ack(12, &[]);
    assert_eq!(script.controller.signals().len(), 2, "beyond what had been sent at the first");
}

#[test]
fn an_older_acknowledgment_does_not_reduce_the_count() {
    let mut script = Script::new(accurate(), HALVE, 10);
    script.send();
    let mut told = Vec::new();
    for marked in [2, 1, 4, 65_000] {
        script.marked = marked;
        script.give(0, &[]);
        told.push(script.controller.last_ack().marked.get());
    }
    assert_eq!(told, [2 * MSS, 0, 2 * MSS, 0]);
}

#[test]
fn a_controller_that_needs_accurate_ecn_is_rejected_without_it() {
    for (ecn, refused) in [
        (EcnMode::Off, Some(ConfigError::AccurateEcnNeeded)),
        (EcnMode::Classic, Some(ConfigError::AccurateEcnNeeded)),
        (EcnMode::Accurate, None),
    ] {
        let handle = Handle::new(HALVE, Bytes::new(MSS));
        handle.desk().needs.accurate_ecn = true;
        let made = Sender::new(SenderConfig { ecn, ..config(Recovery::Sack) }, handle.controller());
        assert_eq!(made.err(), refused, "{ecn:?}");
    }
}
