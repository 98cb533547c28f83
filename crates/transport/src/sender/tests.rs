//! Compares the sender's incremental state with values recomputed from the ledger after every event.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, NullProbe, Pacing,
    Phase, Probe, Rate, Requirements, Timestamp,
};
use proptest::prelude::*;

use super::by_time::ByTime;
use super::{SendLimit, Sender, State};
use crate::ledger::Record;
use crate::{LossDetection, Receiver, ReceiverConfig, Recovery, Segment, SenderConfig};

const MSS: u64 = 100;

/// A controller: half the window after a loss, one segment after a timeout, one more segment per
/// acknowledgment.
#[derive(Debug)]
struct Simple(Bytes);

/// As [`Simple`], but the window also limits the sender during recovery.
#[derive(Debug)]
struct Strict(Simple);

impl Controller for Simple {
    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        if !event.acked.is_zero() && !event.in_recovery && self.0 < Bytes::new(40 * MSS) {
            self.0 += Bytes::new(MSS);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.0 = match event.signal {
            CongestionSignal::Timeout => event.mss,
            CongestionSignal::Loss | CongestionSignal::EcnCe => {
                Bytes::new(event.flight_size.get() / 2).max(event.mss * 2)
            }
        };
    }

    fn control(&self) -> Control {
        Control { window: self.0, pacing: Pacing::Off, quantum: Bytes::MAX }
    }

    fn phase(&self) -> Phase {
        Phase::CongestionAvoidance
    }
}

impl Controller for Strict {
    fn requirements(&self) -> Requirements {
        Requirements { window_in_recovery: true, ..Requirements::default() }
    }

    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        self.0.on_ack(event, probe);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, probe: &mut dyn Probe) {
        self.0.on_congestion(event, probe);
    }

    fn control(&self) -> Control {
        self.0.control()
    }

    fn phase(&self) -> Phase {
        self.0.phase()
    }
}

/// Loses the first of twenty segments. Returns the number of new segments sent during the recovery while more
/// than the window is in flight.
fn sent_above_the_window(controller: Box<dyn Controller>) -> usize {
    let mut sender = Sender::new(config(Recovery::Prr), controller).unwrap();
    let mut receiver = Receiver::new(ReceiverConfig { sack: true, ..ReceiverConfig::default() });
    sender.offer(Bytes::new(100 * MSS));
    let flight: Vec<Segment> =
        core::iter::from_fn(|| sender.poll_transmit(Timestamp::ZERO, &mut NullProbe)).collect();
    assert_eq!(flight.len(), 20);
    let now = Timestamp::ZERO + Duration::from_millis(50);
    let mut above = 0;
    for segment in &flight[1..] {
        receiver.on_segment(now, segment);
        receiver.on_timer(now);
        while let Some(ack) = receiver.poll_ack(now) {
            sender.on_ack(now, &ack, &mut NullProbe);
            while let Some(sent) = sender.poll_transmit(now, &mut NullProbe) {
                let beyond = sender.in_flight() > sender.controller.control().window;
                above += usize::from(sender.in_recovery() && beyond && !sent.retransmission);
            }
        }
    }
    above
}

#[test]
fn a_reduction_replaces_the_window_unless_the_controller_enforces_its_window() {
    let window = || Simple(Bytes::new(20 * MSS));
    assert!(sent_above_the_window(Box::new(window())) >= 3);
    assert_eq!(sent_above_the_window(Box::new(Strict(window()))), 0);
}

/// Sends all permitted segments and returns them.
fn sent(sender: &mut Sender, now: Timestamp) -> Vec<Segment> {
    core::iter::from_fn(|| sender.poll_transmit(now, &mut NullProbe)).collect()
}

#[test]
fn the_reported_limit_is_the_first_that_applies() {
    let start = Timestamp::ZERO;
    let limited = |window: u64, receive_window: u64, offered: u64| {
        let config =
            SenderConfig { receive_window: Bytes::new(receive_window * MSS), ..config(Recovery::Prr) };
        let mut sender = Sender::new(config, Box::new(Simple(Bytes::new(window * MSS)))).unwrap();
        sender.offer(Bytes::new(offered * MSS));
        sent(&mut sender, start);
        sender
    };
    assert_eq!(limited(10, 20, 0).limit(), SendLimit::Application);
    assert_eq!(limited(10, 20, 10).limit(), SendLimit::Application);
    assert_eq!(limited(10, 20, 11).limit(), SendLimit::CongestionWindow);
    assert_eq!(limited(10, 5, 11).limit(), SendLimit::ReceiveWindow);
    assert_eq!(limited(10, 10, 11).limit(), SendLimit::ReceiveWindow);
    let mut sender = limited(4, 20, 11);
    let timeout = sender.next_timer();
    sender.on_timer(timeout, &mut NullProbe);
    sent(&mut sender, timeout);
    assert_eq!(sender.limit(), SendLimit::Recovery);
}

#[test]
fn a_window_held_back_by_the_pacer_is_limited_by_pacing() {
    #[derive(Debug)]
    struct Paced;
    impl Controller for Paced {
        fn on_ack(&mut self, _event: &AckEvent, _probe: &mut dyn Probe) {}
        fn on_congestion(&mut self, _event: &CongestionEvent, _probe: &mut dyn Probe) {}
        fn control(&self) -> Control {
            let pacing = Pacing::At(Rate::from_bps(1_000_000));
            Control { window: Bytes::new(3 * MSS), pacing, quantum: Bytes::new(MSS) }
        }
        fn phase(&self) -> Phase {
            Phase::Steady
        }
    }
    let mut sender = Sender::new(config(Recovery::Prr), Box::new(Paced)).unwrap();
    sender.offer(Bytes::new(100 * MSS));
    for limit in [SendLimit::Pacing, SendLimit::Pacing, SendLimit::CongestionWindow] {
        let now = if sender.held_until.is_scheduled() { sender.held_until } else { Timestamp::ZERO };
        assert_eq!(sent(&mut sender, now).len(), 1);
        assert_eq!(sender.limit(), limit);
    }
}

fn config(recovery: Recovery) -> SenderConfig {
    SenderConfig { mss: Bytes::new(MSS), recovery, ..SenderConfig::default() }
}

fn check(sender: &Sender) -> Result<(), TestCaseError> {
    let pipe: u64 = sender
        .ledger
        .records()
        .filter(|record| !record.sacked)
        .map(|record| {
            (u64::from(!record.lost) + u64::from(record.retransmitting)) * u64::from(record.payload)
        })
        .sum();
    prop_assert_eq!(sender.ledger.pipe().get(), pipe);
    prop_assert!(sender.duplicate_bytes <= pipe);
    prop_assert_eq!(sender.in_flight().get(), pipe - sender.duplicate_bytes);
    let outstanding: u64 = sender.ledger.records().map(|record| u64::from(record.payload)).sum();
    prop_assert_eq!(sender.ledger.outstanding().get(), outstanding);
    // The timer runs exactly if something is outstanding.
    prop_assert_eq!(sender.timer.deadline().is_scheduled(), outstanding > 0);
    // Any loss shows at the first segment, and no loss remains unhandled.
    let lost = sender.ledger.records().any(|record| record.lost && !record.sacked);
    prop_assert_eq!(sender.ledger.first_is_lost(), lost);
    prop_assert!(!lost || sender.state != State::Open);
    prop_assert!(sender.in_recovery() || sender.reduction.is_none());
    // Loss detection by time waits for overtaken transmissions: the first original, and all retransmissions.
    if let Some(ByTime { rack, .. }) = sender.by_time.as_deref() {
        let open = |record: &&Record| !record.sacked && !record.lost;
        let original = sender.ledger.records().find(open).into_iter();
        let again = sender.ledger.records().filter(|record| !record.sacked && record.retransmitting);
        let overtaken = original.chain(again).any(|record| record.order < rack.newest());
        prop_assert!(rack.due().is_scheduled() || !overtaken);
    }
    if let State::Recovery { until } | State::Loss { until } = sender.state {
        prop_assert!(sender.ledger.acknowledged() < until);
    }
    Ok(())
}

/// Checks, after all permitted data was sent, that a probe is due no later than the timeout, and none during
/// recovery.
fn check_probe(sender: &Sender) -> Result<(), TestCaseError> {
    let Some(ByTime { tail, .. }) = sender.by_time.as_deref() else { return Ok(()) };
    let waits = tail.due().is_scheduled();
    prop_assert!(!waits || tail.due() <= sender.timer.deadline());
    prop_assert!(!waits && !tail.wanted() || sender.state == State::Open && !sender.ledger.has_sacked());
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The next segment in flight arrives or is lost.
    Data(bool),
    /// The next segment in flight falls behind this many others.
    Overtake(usize),
    /// The next acknowledgment in flight arrives or is lost.
    Ack(bool),
    /// The sender's timer expires, correctly or spuriously.
    Timer,
    Offer(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => prop::bool::weighted(0.8).prop_map(Step::Data),
        12 => prop::bool::weighted(0.9).prop_map(Step::Ack),
        2 => (1_usize..6).prop_map(Step::Overtake),
        1 => Just(Step::Timer),
        3 => (1_u64..1_000).prop_map(Step::Offer),
    ];
    prop::collection::vec(step, 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_counters_equal_those_of_the_ledger(
        steps in steps(),
        recovery in prop_oneof![Just(Recovery::Prr), Just(Recovery::Sack), Just(Recovery::Newreno), Just(Recovery::Reno)],
        detect in any::<bool>(),
        undo in any::<bool>(),
        rack in any::<bool>(),
    ) {
        let config = SenderConfig {
            lost_retransmission_detection: detect,
            loss_detection: if rack && recovery.uses_sack() { LossDetection::Rack } else { LossDetection::Threshold },
            spurious_timeout_undo: undo,
            ..config(recovery)
        };
        let mut sender = Sender::new(config, Box::new(Simple(Bytes::new(10 * MSS)))).unwrap();
        let sack = recovery.uses_sack();
        let mut receiver = Receiver::new(ReceiverConfig { sack, ..ReceiverConfig::default() });
        let (mut data, mut acks) = (Vec::<Segment>::new(), Vec::new());
        let mut now = Timestamp::ZERO;
        for step in steps {
            now += Duration::from_millis(1);
            match step {
                Step::Data(arrives) if !data.is_empty() => {
                    let segment = data.remove(0);
                    if arrives {
                        receiver.on_segment(now, &segment);
                        receiver.on_timer(now);
                        acks.extend(receiver.poll_ack(now));
                    }
                }
                Step::Ack(arrives) if !acks.is_empty() => {
                    let ack = acks.remove(0);
                    if arrives {
                        sender.on_ack(now, &ack, &mut NullProbe);
                        check(&sender)?;
                    }
                }
                Step::Overtake(others) if !data.is_empty() => {
                    let others = others.min(data.len() - 1);
                    data[..=others].rotate_left(1);
                }
                Step::Timer if sender.next_timer().is_scheduled() => {
                    now = now.max(sender.next_timer());
                    sender.on_timer(now, &mut NullProbe);
                    check(&sender)?;
                }
                Step::Offer(payload) => sender.offer(Bytes::new(payload)),
                _ => {}
            }
            while let Some(segment) = sender.poll_transmit(now, &mut NullProbe) {
                data.push(segment);
                check(&sender)?;
            }
            check_probe(&sender)?;
        }
    }
}
