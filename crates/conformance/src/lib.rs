//! The contract of every congestion controller, as a test for any implementation of [`Controller`].
//!
//! Random lists of operations (packets leave, arrive, are lost, timers expire) are turned into the events that a correct
//! transport would deliver. After each event the properties are checked: the window is at least one segment, it does
//! not grow by sending, by duplicates, in recovery or while it is not used, signals are answered, asking changes
//! nothing, and equal operations give equal answers.
//!
//! ```
//! use airpath_conformance::{Follows, MSS, check_controller};
//! # use airpath_model::{AckEvent, CongestionEvent, Control, Controller, Pacing, Phase, Probe};
//! # #[derive(Debug)]
//! # struct TenSegments;
//! # impl Controller for TenSegments {
//! #     fn on_ack(&mut self, _: &AckEvent, _: &mut dyn Probe) {}
//! #     fn on_congestion(&mut self, _: &CongestionEvent, _: &mut dyn Probe) {}
//! #     fn control(&self) -> Control { Control { window: MSS * 10, pacing: Pacing::Off, quantum: MSS } }
//! #     fn phase(&self) -> Phase { Phase::Steady }
//! # }
//! check_controller("ten segments", Follows::Rfc5681, || Box::new(TenSegments));
//! ```

use std::collections::VecDeque;

use airpath_model::{
    AbcMark, AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, LoadCode,
    LoadWord, NullProbe, PathHeader, Phase, Rate, RateSample, RttEstimate, SendEvent, Timestamp, XcpHeader,
};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

/// The largest payload of one packet.
pub const MSS: Bytes = Bytes::new(1448);

/// The rules for the window that a controller follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// Those of RFC 5681 for when a window may grow or shrink, and by how much.
    Rfc5681,
    /// The same, but the window is set to what was measured when a recovery ends (Westwood+ in Linux).
    Rfc5681UntilRecoveryEnds,
    /// The same, but one acknowledgment may open the window by more than it acknowledges (Hybla).
    Faster,
    /// Those of RFC 5681 outside recovery; in recovery the window follows the feedback of routers (XCP in ns-2.35, ABC).
    Routers,
    /// None of them: the window follows a model of the path (BBR, Copa).
    Model,
}

/// Checks the contract with random lists of operations: 256 lists, the same in every run, unless `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` say otherwise.
///
/// # Panics
/// The controller breaks the contract; the message names the property and the shortest list found.
pub fn check_controller(name: &'static str, follows: Follows, construct: impl Fn() -> Box<dyn Controller>) {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    let outcome = TestRunner::new(config).run(&operations(), |operations| {
        let mut first = Ledger::new(name, follows, construct());
        let mut second = Ledger::new(name, follows, construct());
        for &operation in &operations {
            first.apply(operation);
            second.apply(operation);
            prop_assert_eq!(first.control(), second.control(), "{}: same operations, same answers", name);
        }
        prop_assert_eq!(format!("{:?}", first), format!("{:?}", second));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{name}: {failure}");
    }
}

/// An event in the life of a connection.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// The application has that many packets; as many leave as the window allows.
    Send(u16),
    /// The oldest packets in flight are acknowledged at once.
    Acknowledge {
        /// The number of packets.
        count: u8,
        /// Whether the window limited the sender.
        window_limited: bool,
        /// The change that routers allow, in segments a round trip; `None` if their feedback was lost.
        word: Option<i8>,
    },
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
    /// The last signal proves spurious.
    Spurious,
}

/// Returns random lists of operations.
pub fn operations() -> impl Strategy<Value = Vec<Operation>> {
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

/// The state of a connection: the packets in flight, and the events that the controller received.
#[derive(Debug)]
pub struct Ledger {
    name: &'static str,
    follows: Follows,
    controller: Box<dyn Controller>,
    now: Timestamp,
    in_flight: VecDeque<Sent>,
    next: u64,
    rtt: RttEstimate,
    /// Packets numbered below it were sent before the loss that is being repaired.
    recovery_until: Option<u64>,
    /// A loss was reported, and no acknowledgment outside recovery since.
    repairing: bool,
    /// The last timeout came during a recovery, which continues if the timeout proves spurious.
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
    /// Returns the ledger of a connection that begins.
    pub fn new(name: &'static str, follows: Follows, controller: Box<dyn Controller>) -> Self {
        let ledger = Self {
            name,
            follows,
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

    /// Returns the controller's answer.
    ///
    /// # Panics
    /// A property that always holds does not.
    pub fn control(&self) -> Control {
        let control = self.controller.control();
        assert_eq!(control, self.controller.control(), "{}: asking changes nothing", self.name);
        assert!(control.window >= MSS, "{}: {:?} is less than a segment", self.name, control.window);
        // 200 operations of at most 40 packets each cannot earn more.
        let earned = control.window <= MSS * (10 + 200 * 40) || self.follows == Follows::Faster;
        assert!(earned, "{}: {:?} is absurd", self.name, control.window);
        assert!(control.quantum >= MSS, "{}: no packet can leave", self.name);
        assert!(self.controller.next_timer() >= self.now, "{}: timer in the past", self.name);
        control
    }

    fn is_model_based(&self) -> bool {
        self.follows == Follows::Model
    }

    fn window(&self) -> Bytes {
        self.control().window
    }

    /// Applies an operation.
    ///
    /// # Panics
    /// The controller breaks the contract.
    pub fn apply(&mut self, operation: Operation) {
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
        if repaired && self.follows == Follows::Rfc5681UntilRecoveryEnds {
            return; // Linux sets the window to what it measured, whatever that is
        }
        if self.is_model_based() {
            return;
        }
        // What is repaired after a dismissed signal is nothing to the window, and routers of XCP (ns-2.35) and ABC (its authors'
        // code) have their say meanwhile.
        let led = self.follows == Follows::Routers;
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
            let earned = after - before <= event.acked || self.follows == Follows::Faster;
            assert!(earned, "{}: grew by more than was acknowledged", self.name);
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

/// What routers make of what the controller wrote: `word` segments more (or less) in a round trip, or as near as the
/// header can say it.
fn answer(asked: PathHeader, word: i8, rtt: Duration) -> PathHeader {
    let rtt = rtt.max(Duration::from_millis(1));
    match asked {
        PathHeader::Xcp(header) if header.rtt.is_zero() => {
            PathHeader::Xcp(XcpHeader { delta_throughput: 0.0, ..header })
        }
        PathHeader::Xcp(header) => {
            let delta = f64::from(word) * MSS.as_f64() / rtt.as_secs_f64();
            PathHeader::Xcp(XcpHeader { delta_throughput: delta.min(header.delta_throughput), ..header })
        }
        PathHeader::FairRate(rate) => {
            let segments = u64::try_from(10 + word).unwrap_or(0);
            PathHeader::FairRate(rate.min(Rate::over(MSS * segments, rtt)))
        }
        PathHeader::Load(code) => PathHeader::Load(code.max(match word {
            1.. => LoadCode::Low,
            0 => LoadCode::High,
            _ => LoadCode::Overload,
        })),
        PathHeader::Abc(mark) => {
            PathHeader::Abc(mark.max(if word < 0 { AbcMark::Brake } else { AbcMark::Accelerate }))
        }
        PathHeader::Word(load) => {
            let level = u16::try_from(8 - word).unwrap_or(0);
            PathHeader::Word(LoadWord { level: load.level.max(level), ..load })
        }
        other => other,
    }
}
