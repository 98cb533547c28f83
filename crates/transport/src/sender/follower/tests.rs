//! Compares a follower with the sender that it follows.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, NullProbe, Pacing,
    Phase, Probe, Timestamp,
};
use proptest::prelude::*;

use super::Follower;
use crate::{Receiver, ReceiverConfig, Recovery, Segment, Sender, SenderConfig};

const MSS: u64 = 100;

/// A controller that halves the window after a loss, adds one segment per acknowledgment, and records the
/// events.
#[derive(Debug)]
struct Watched {
    window: u64,
    ack: Option<AckEvent>,
    congestion: Option<CongestionSignal>,
}

impl Controller for Watched {
    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        self.ack = Some(*event);
        if !event.acked.is_zero() && !event.in_recovery && self.window < 30 * MSS {
            self.window += MSS;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _probe: &mut dyn Probe) {
        self.congestion = Some(event.signal);
        self.window = (event.flight_size.get() / 2).max(2 * MSS);
    }

    fn control(&self) -> Control {
        Control { window: Bytes::new(self.window), pacing: Pacing::Off, quantum: Bytes::MAX }
    }

    fn phase(&self) -> Phase {
        Phase::CongestionAvoidance
    }
}

/// Removes what an observer cannot know: whether the window or the application limited the sender.
fn comparable(event: Option<AckEvent>) -> Option<AckEvent> {
    event.map(|mut event| {
        event.window_limited = true;
        if let Some(rate) = &mut event.rate {
            rate.app_limited = false;
        }
        event
    })
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Data(bool),
    Ack(bool),
    Timer,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => prop::bool::weighted(0.85).prop_map(Step::Data),
        12 => prop::bool::weighted(0.95).prop_map(Step::Ack),
        1 => Just(Step::Timer),
    ];
    prop::collection::vec(step, 1..500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The follower reports every acknowledgment as the sender did, for any losses and timeouts.
    #[test]
    fn a_follower_receives_the_events_of_the_sender(
        steps in steps(),
        recovery in prop_oneof![Just(Recovery::Prr), Just(Recovery::Sack)],
    ) {
        let config = SenderConfig { mss: Bytes::new(MSS), recovery, ..SenderConfig::default() };
        let watched = Watched { window: 10 * MSS, ack: None, congestion: None };
        let mut sender = Sender::with(config, Box::new(watched)).unwrap();
        let mut follower = Follower::new(config).unwrap();
        let mut receiver = Receiver::new(ReceiverConfig::default());
        let (mut data, mut acks) = (Vec::<Segment>::new(), Vec::new());
        sender.offer(Bytes::MAX);
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
                        let observed = follower.on_ack(now, &ack);
                        prop_assert_eq!(comparable(observed.ack), comparable(sender.controller.ack.take()));
                        prop_assert_eq!(
                            observed.congestion.map(|event| event.signal),
                            sender.controller.congestion.take()
                        );
                    }
                }
                Step::Timer if sender.next_timer().is_scheduled() => {
                    now = now.max(sender.next_timer());
                    sender.on_timer(now, &mut NullProbe);
                }
                _ => {}
            }
            let mut congestion = None;
            while let Some(segment) = sender.poll_transmit(now, &mut NullProbe) {
                let observed = follower.on_sent(now, segment.sequence, segment.payload);
                congestion = congestion.or(observed.congestion.map(|event| event.signal));
                prop_assert_eq!(observed.again.is_zero(), !segment.retransmission);
                data.push(segment);
            }
            prop_assert_eq!(congestion, sender.controller.congestion.take());
        }
    }
}

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

fn follower() -> Follower {
    Follower::new(SenderConfig { mss: Bytes::new(MSS), ..SenderConfig::default() }).unwrap()
}

fn ack(cumulative: u64) -> crate::Acknowledgment {
    crate::Acknowledgment {
        repeated: false,
        cumulative,
        sack: crate::SackBlocks::new(),
        receive_window: Bytes::MAX,
        timestamp: None,
        timestamp_echo: None,
        ece: false,
        marked: 0,
        path: airpath_model::PathHeader::None,
    }
}

#[test]
fn a_hole_yields_no_round_trip_time_and_filling_it_is_no_retransmission() {
    let mut follower = follower();
    follower.on_sent(at(0), 0, 100);
    assert_eq!(follower.on_sent(at(1), 300, 100).skipped.get(), 200);
    assert_eq!(follower.on_sent(at(2), 100, 200).filled.get(), 200);
    assert_eq!(follower.on_sent(at(3), 100, 100).again.get(), 100);
    let told = follower.on_ack(at(10), &ack(300)).ack.unwrap();
    assert_eq!((told.acked.get(), told.rtt_sample), (300, None));
    assert_eq!(follower.on_ack(at(11), &ack(400)).ack.unwrap().rtt_sample, Some(Duration::from_millis(10)));
}

#[test]
fn uncaptured_data_is_counted_when_acknowledged() {
    let mut follower = follower();
    follower.on_sent(at(0), 0, 100);
    let told = follower.on_ack(at(5), &ack(1_000_000_000));
    assert_eq!(told.unseen.get(), 1_000_000_000 - 100);
    assert_eq!(told.ack.unwrap().acked.get(), 1_000_000_000);
    assert!(follower.segments() == 0);
}

#[test]
fn a_super_segment_is_acknowledged_piece_by_piece() {
    let mut follower = follower();
    follower.on_sent(at(0), 0, 1_000);
    for k in 1..=5 {
        assert_eq!(follower.on_ack(at(k), &ack(200 * k)).ack.unwrap().acked.get(), 200);
    }
    assert_eq!(follower.on_sent(at(6), 500, 100).needless.get(), 100);
}
