//! What holds for every controller, whatever happens to its packets.
//!
//! proptest makes lists of operations. A small ledger of packets turns them into the events that a correct
//! transport would deliver, and the properties are checked after each.

use crate::support::{CONTROLLERS, MODEL_BASED, MSS, answer, differentiated};
use airpath_control::CongestionEvidence;
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, NullProbe, PathHeader,
    Phase, RateSample, RttEstimate, SendEvent, Timestamp,
};
use proptest::prelude::*;
use std::collections::VecDeque;

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// The application has that many packets; as many leave as the window allows.
    Send(u16),
    /// The oldest that many packets in flight are acknowledged at once. Routers said how much more (or less) each
    /// flow may send, in steps; `None` when their word was lost.
    Acknowledge { count: u8, window_limited: bool, word: Option<i8> },
    /// An acknowledgment without new data.
    Duplicate,
    /// The oldest packet in flight is found lost.
    Lose,
    /// The retransmission timer expires.
    Timeout,
    /// The receiver echoes a CE mark.
    CongestionExperienced,
    /// That many milliseconds pass.
    Wait(u16),
    /// The last signal proves false.
    Spurious,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        6 => (1_u16..200).prop_map(Operation::Send),
        8 => (1_u8..40, prop::bool::weighted(0.8), prop::option::weighted(0.9, -8_i8..=8))
            .prop_map(|(count, window_limited, word)| Operation::Acknowledge { count, window_limited, word }),
        1 => Just(Operation::Duplicate),
        2 => Just(Operation::Lose),
        1 => Just(Operation::Timeout),
        1 => Just(Operation::CongestionExperienced),
        6 => (0_u16..500).prop_map(Operation::Wait),
        1 => Just(Operation::Spurious),
    ];
    prop::collection::vec(operation, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_controller_keeps_the_contract(operations in operations()) {
        for (name, construct) in CONTROLLERS {
            let mut first = Ledger::new(name, construct());
            let mut second = Ledger::new(name, construct());
            for &operation in &operations {
                first.apply(operation);
                second.apply(operation);
                prop_assert_eq!(first.control(), second.control(), "{}: same operations, same answers", name);
            }
            prop_assert_eq!(format!("{:?}", first), format!("{:?}", second));
        }
    }

    #[test]
    fn every_controller_keeps_the_contract_with_loss_differentiation(operations in operations()) {
        for (name, construct) in CONTROLLERS {
            for evidence in [CongestionEvidence::Feedback, CongestionEvidence::QueueingDelay { share: 0.5 }] {
                let mut ledger = Ledger::new(name, differentiated(evidence, construct()));
                for &operation in &operations {
                    ledger.apply(operation);
                }
            }
        }
    }
}

/// The list is what the simulator's test of completeness reads.
#[test]
fn the_list_of_controllers_is_that_of_the_suite() {
    let names: Vec<_> = CONTROLLERS.iter().map(|(name, _)| *name).collect();
    let listed = include_str!("../../../../golden/suites/controllers.txt");
    assert_eq!(names, listed.lines().collect::<Vec<_>>());
}

/// The properties must be able to fail: a controller that breaks one is caught.
#[test]
#[should_panic(expected = "grew in recovery")]
fn a_controller_that_breaks_the_contract_is_caught() {
    #[derive(Debug)]
    struct Greedy(Bytes);
    impl Controller for Greedy {
        fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn airpath_model::Probe) {
            self.0 += event.acked;
        }
        fn on_congestion(&mut self, _event: &CongestionEvent, _probe: &mut dyn airpath_model::Probe) {}
        fn control(&self) -> Control {
            Control { window: self.0, pacing: airpath_model::Pacing::Off, quantum: MSS }
        }
        fn phase(&self) -> Phase {
            Phase::Steady
        }
    }
    let mut ledger = Ledger::new("greedy", Box::new(Greedy(MSS * 10)));
    ledger.apply(Operation::Send(10));
    ledger.apply(Operation::Lose);
    ledger.apply(Operation::Acknowledge { count: 3, window_limited: true, word: None });
}

/// A false timeout in a recovery gives the recovery back, at the end of which Linux's Westwood+ sets the window.
#[test]
fn a_recovery_goes_on_after_a_false_timeout() {
    use Operation::{Lose, Send, Spurious, Timeout, Wait};
    let acknowledge = |count, window_limited| Operation::Acknowledge { count, window_limited, word: None };
    let measured = [
        acknowledge(1, false),
        Send(4),
        acknowledge(4, false),
        Send(1),
        Send(1),
        Wait(51),
        acknowledge(1, false),
    ];
    let slow_start = [Timeout, Send(1), Wait(39), acknowledge(1, true)];
    let recovery = [Send(1), Lose, Timeout, acknowledge(1, false), Spurious, acknowledge(1, false)];
    // The same with a mark between the loss and a repeated timeout, from a window of one segment.
    let marked = [
        Timeout,
        Send(1),
        Lose,
        Operation::CongestionExperienced,
        Timeout,
        Wait(51),
        acknowledge(1, false),
        Spurious,
        acknowledge(1, false),
    ];
    for (name, construct) in CONTROLLERS {
        for end in [recovery.as_slice(), marked.as_slice()] {
            let mut ledger = Ledger::new(name, construct());
            for &operation in measured.iter().chain(&slow_start).chain(end) {
                ledger.apply(operation);
            }
        }
    }
}

/// The transport's book: what is in flight, and what the controller has been told.
#[derive(Debug)]
struct Ledger {
    name: &'static str,
    controller: Box<dyn Controller>,
    now: Timestamp,
    in_flight: VecDeque<Sent>,
    next: u64,
    rtt: RttEstimate,
    /// Packets numbered below it were sent before the loss that is being repaired.
    recovery_until: Option<u64>,
    /// A loss was told, and no acknowledgment outside recovery since.
    repairing: bool,
    /// The last timeout came while a loss was repaired; where it proves false, that goes on.
    interrupted: bool,
    consecutive_timeouts: u32,
    round: u64,
    round_ends_at: u64,
    delivered: Bytes,
    /// The window before the last signal that has not been undone.
    before_signal: Option<Bytes>,
    /// Payload that arrived marked and that no acknowledgment has covered yet.
    marked: Bytes,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    at: Timestamp,
    path: PathHeader,
    /// What had been delivered when it left, and was in flight with it.
    delivered: Bytes,
    in_flight: Bytes,
}

impl Ledger {
    fn new(name: &'static str, controller: Box<dyn Controller>) -> Self {
        let ledger = Self {
            name,
            controller,
            now: Timestamp::ZERO,
            in_flight: VecDeque::new(),
            next: 0,
            rtt: RttEstimate::default(),
            recovery_until: None,
            repairing: false,
            interrupted: false,
            consecutive_timeouts: 0,
            round: 0,
            round_ends_at: 0,
            delivered: Bytes::ZERO,
            before_signal: None,
            marked: Bytes::ZERO,
        };
        ledger.control();
        ledger
    }

    /// The answer, with the properties that always hold.
    fn control(&self) -> Control {
        let control = self.controller.control();
        assert_eq!(control, self.controller.control(), "{}: asking changes nothing", self.name);
        assert!(control.window >= MSS, "{}: {:?} is less than a segment", self.name, control.window);
        // 200 operations of at most 40 packets each cannot earn more.
        assert!(control.window <= MSS * (10 + 200 * 40), "{}: {:?} is absurd", self.name, control.window);
        assert!(control.quantum >= MSS, "{}: no packet can leave", self.name);
        assert!(self.controller.next_timer() >= self.now, "{}: timer in the past", self.name);
        control
    }

    fn is_model_based(&self) -> bool {
        MODEL_BASED.contains(&self.name)
    }

    fn window(&self) -> Bytes {
        self.control().window
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Send(count) => self.send(count),
            Operation::Acknowledge { count, window_limited, word } => {
                self.acknowledge(count.into(), window_limited, word);
            }
            Operation::Duplicate => self.acknowledge(0, true, None),
            Operation::Lose => self.lose(),
            Operation::Timeout => self.time_out(),
            Operation::CongestionExperienced => {
                self.marked += MSS;
                self.signal(CongestionSignal::EcnCe, Bytes::ZERO);
            }
            Operation::Wait(milliseconds) => self.wait(Duration::from_millis(milliseconds.into())),
            Operation::Spurious => self.undo(),
        }
        self.control();
    }

    fn send(&mut self, count: u16) {
        for _ in 0..count {
            let in_flight = self.bytes_in_flight() + MSS;
            if in_flight > self.window() {
                break;
            }
            let before = self.window();
            let mut event = SendEvent::at(self.now, MSS);
            event.mss = MSS;
            event.in_flight = in_flight;
            event.rtt = self.rtt;
            let path = self.controller.on_sent(&event, &mut NullProbe);
            if !self.is_model_based() {
                assert!(self.window() <= before, "{}: grew by sending", self.name);
            }
            let delivered = self.delivered;
            self.in_flight.push_back(Sent { number: self.next, at: self.now, path, delivered, in_flight });
            self.next += 1;
        }
    }

    fn acknowledge(&mut self, count: usize, window_limited: bool, word: Option<i8>) {
        let in_flight_before = self.bytes_in_flight();
        let count = count.min(self.in_flight.len());
        let newest = self.in_flight.drain(..count).next_back();
        self.delivered += MSS * count as u64;
        let mut event = AckEvent::at(self.now);
        if let Some(newest) = newest {
            self.consecutive_timeouts = 0;
            self.measure(self.now.since(newest.at));
            event.rtt_sample = Some(self.rtt.latest);
            event.path = word.map_or(PathHeader::None, |word| answer(newest.path, word, self.rtt.smoothed));
            event.latest_sent_at = Some(newest.at);
            event.in_flight_at_send = newest.in_flight;
            let interval = self.now.since(newest.at);
            event.rate = (!interval.is_zero()).then(|| RateSample {
                delivered: self.delivered - newest.delivered,
                lost: Bytes::ZERO,
                interval,
                prior_delivered: newest.delivered,
                app_limited: !window_limited,
            });
            if newest.number >= self.round_ends_at {
                self.round += 1;
                self.round_ends_at = self.next;
            }
            if self.recovery_until.is_some_and(|until| newest.number + 1 >= until) {
                self.recovery_until = None;
            }
        }
        event.acked = MSS * count as u64;
        event.advance = event.acked;
        event.marked = event.acked.min(self.marked);
        event.congestion_experienced = !event.marked.is_zero();
        self.marked -= event.marked;
        event.duplicate = count == 0 && !self.in_flight.is_empty();
        event.receiver_time = Some(self.now);
        event.mss = MSS;
        event.in_flight_before = in_flight_before;
        event.in_flight = self.bytes_in_flight();
        event.rtt = self.rtt;
        event.round = self.round;
        event.window_limited = window_limited;
        event.in_recovery = self.recovery_until.is_some();
        self.tell(&event);
    }

    fn tell(&mut self, event: &AckEvent) {
        let (before, phase) = (self.window(), self.controller.phase());
        self.controller.on_ack(event, &mut NullProbe);
        let after = self.window();
        let repaired = self.repairing && !event.in_recovery;
        self.repairing &= event.in_recovery;
        if repaired && self.name == "westwood+" {
            return; // Linux sets the window to what it measured, whatever that is
        }
        if self.is_model_based() {
            return;
        }
        // What is repaired after a dismissed signal is nothing to the window, and routers of XCP (ns-2.35) and ABC (its authors'
        // code) have their say meanwhile.
        let led = self.name.starts_with("xcp") || self.name.starts_with("abc");
        if event.in_recovery && !self.controller.dismissed_signal() && !led {
            assert!(after <= before, "{}: grew in recovery", self.name);
        }
        if !event.window_limited {
            assert!(after <= before, "{}: grew a window that is not used", self.name);
        }
        if event.acked.is_zero() {
            assert!(after <= before, "{}: grew by a duplicate", self.name);
        }
        if matches!(phase, Phase::SlowStart | Phase::ConservativeSlowStart) {
            // It may shrink where slow start ends (Vegas).
            let ended = self.controller.phase() == Phase::CongestionAvoidance;
            assert!(after >= before || ended, "{}: shrank in slow start", self.name);
            assert!(after - before <= event.acked, "{}: grew by more than was acknowledged", self.name);
        }
    }

    fn lose(&mut self) {
        let flight_size = self.bytes_in_flight();
        if self.in_flight.pop_front().is_none() {
            return;
        }
        // One signal for one window of data.
        if self.recovery_until.is_none() {
            self.recovery_until = Some(self.next);
            self.signal(CongestionSignal::Loss, flight_size);
            self.repairing = true;
        }
    }

    fn time_out(&mut self) {
        let flight_size = self.bytes_in_flight();
        self.in_flight.clear();
        self.recovery_until = None;
        self.consecutive_timeouts += 1;
        self.signal(CongestionSignal::Timeout, flight_size);
    }

    fn signal(&mut self, signal: CongestionSignal, flight_size: Bytes) {
        let before = self.window();
        let mut event = CongestionEvent::at(self.now, signal);
        event.flight_size = flight_size.max(self.bytes_in_flight());
        event.lost = flight_size - self.bytes_in_flight();
        event.mss = MSS;
        event.rtt = self.rtt;
        if signal == CongestionSignal::Timeout {
            event.consecutive = self.consecutive_timeouts;
        }
        if event.consecutive <= 1 {
            self.before_signal = Some(before);
            self.interrupted = self.repairing;
        }
        let threshold = self.controller.ssthresh();
        self.controller.on_congestion(&event, &mut NullProbe);
        assert!(self.window() <= before, "{}: grew at a signal", self.name);
        if self.controller.dismissed_signal() {
            assert_ne!(signal, CongestionSignal::EcnCe, "{}: a mark is no error", self.name);
            assert_eq!(self.window(), before, "{}: answered a signal that it dismissed", self.name);
            assert_eq!(self.controller.ssthresh(), threshold, "{}: moved its threshold", self.name);
            self.before_signal = None;
            return;
        }
        if let Some(after) = self.controller.ssthresh() {
            assert!(after >= MSS * 2, "{}: threshold {after:?}", self.name);
            if event.consecutive > 1 {
                assert_eq!(Some(after), threshold, "{}: threshold moved at a repeated timeout", self.name);
            }
        }
    }

    fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        while self.controller.next_timer() <= end {
            self.now = self.controller.next_timer();
            self.controller.on_timer(self.now, &mut NullProbe);
            self.control();
        }
        let before = self.control();
        self.now = end;
        assert_eq!(before, self.controller.control(), "{}: changed without an event", self.name);
    }

    fn undo(&mut self) {
        let current = self.window();
        self.controller.on_spurious(self.now, &mut NullProbe);
        let before = self.before_signal.take().filter(|_| !self.is_model_based());
        let at_least = before.unwrap_or(current).max(current);
        assert!(self.window() >= at_least, "{}: {:?} after undo", self.name, self.window());
        // The proof came with an acknowledgment of new data.
        self.recovery_until = None;
        self.repairing |= std::mem::take(&mut self.interrupted);
        self.consecutive_timeouts = 0;
    }

    fn measure(&mut self, sample: Duration) {
        let rtt = &mut self.rtt;
        let first = rtt.minimum.is_zero();
        rtt.latest = sample;
        rtt.minimum = if first { sample } else { rtt.minimum.min(sample) };
        rtt.smoothed = if first { sample } else { rtt.smoothed * 7 / 8 + sample / 8 };
    }

    fn bytes_in_flight(&self) -> Bytes {
        MSS * self.in_flight.len() as u64
    }
}
