//! One connection: the events that a correct transport would deliver, and the rules that the answers must
//! follow.

use std::collections::VecDeque;

use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, NullProbe, PathHeader,
    Phase, RateSample, RttEstimate, SendEvent, Timestamp,
};

use crate::routers::answer;
use crate::{Breach, Contract, Grade, MSS, Operation, Rule};

/// Upper bound of a window and of a burst.
const MOST: Bytes = Bytes::new(1 << 30);
/// Upper bound of the window that 200 operations of at most 40 packets each can earn, including the initial
/// window.
const EARNED: Bytes = Bytes::new(MSS.get() * (10 + 200 * 40));
/// Maximum number of timers in one operation, which lasts at most half a second.
const MOST_TIMERS: u32 = 100_000;

/// The state of a connection: the packets in flight, the events that the controller received, and the rules
/// that it broke.
#[derive(Debug)]
pub struct Ledger {
    contract: Contract,
    controller: Box<dyn Controller>,
    now: Timestamp,
    in_flight: VecDeque<Sent>,
    next: u64,
    rtt: RttEstimate,
    /// Packets with lower numbers were sent before the loss that is being repaired.
    recovery_until: Option<u64>,
    /// A loss was reported, and there was no acknowledgment outside recovery since.
    repairing: bool,
    /// The last timeout occurred during a recovery, which continues if the timeout proves spurious.
    interrupted: bool,
    consecutive_timeouts: u32,
    round: u64,
    round_ends_at: u64,
    delivered: Bytes,
    /// The window before the last signal that has not been undone.
    before_signal: Option<Bytes>,
    /// Payload that arrived marked and is not covered by an acknowledgment yet.
    marked: Bytes,
    /// Number of operations that have started.
    begun: usize,
    breaches: Vec<Breach>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    at: Timestamp,
    path: PathHeader,
    /// Delivered payload when the packet was sent, and payload in flight including the packet.
    delivered: Bytes,
    in_flight: Bytes,
}

/// The answers of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Answers {
    pub(crate) control: Control,
    pub(crate) ssthresh: Option<Bytes>,
    pub(crate) phase: Phase,
    pub(crate) next_timer: Timestamp,
}

impl Ledger {
    /// Creates the ledger of a new connection.
    pub fn new(contract: Contract, controller: Box<dyn Controller>) -> Self {
        let mut ledger = Self {
            contract,
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
            begun: 0,
            breaches: Vec::new(),
        };
        ledger.control();
        ledger
    }

    /// Returns the rules that the controller has broken, each once, in the order of their first breach.
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// Returns the time since the connection began.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the payload in flight.
    pub fn bytes_in_flight(&self) -> Bytes {
        MSS * self.in_flight.len() as u64
    }

    /// Returns the controller's answers.
    pub(crate) fn answers(&self) -> Answers {
        let controller = &self.controller;
        Answers {
            control: controller.control(),
            ssthresh: controller.ssthresh(),
            phase: controller.phase(),
            next_timer: controller.next_timer(),
        }
    }

    /// Returns whether a rule of the interface is broken, so that the connection cannot continue.
    pub(crate) fn is_stopped(&self) -> bool {
        self.breaches.iter().any(|breach| breach.rule.grade() == Grade::Interface)
    }

    /// Applies an operation. After a breach of a rule of the interface it does nothing.
    pub fn apply(&mut self, operation: Operation) {
        if self.is_stopped() {
            return;
        }
        self.begun += 1;
        if self.contract.is_strict || self.is_possible(operation) {
            self.carry_out(operation);
            self.control();
        }
    }

    /// Returns whether a transport can deliver such an event now.
    fn is_possible(&self, operation: Operation) -> bool {
        match operation {
            Operation::Timeout | Operation::CongestionExperienced => !self.in_flight.is_empty(),
            Operation::Spurious => self.before_signal.is_some(),
            _ => true,
        }
    }

    fn carry_out(&mut self, operation: Operation) {
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
    }

    /// Records a breach of `rule` unless `holds` is true, the rule does not bind this controller, or a breach
    /// of it is already recorded.
    fn require(&mut self, rule: Rule, holds: bool, message: impl FnOnce() -> String) {
        let is_known = |breaches: &[Breach]| breaches.iter().any(|breach| breach.rule == rule);
        if holds || !rule.binds(self.contract.follows) || is_known(&self.breaches) {
            return;
        }
        self.breaches.push(Breach { rule, message: message(), operation: self.begun.checked_sub(1) });
    }

    /// Requires that the window has not grown.
    fn require_no_growth(&mut self, rule: Rule, before: Bytes, after: Bytes, why: &str) {
        self.require(rule, after <= before, || {
            format!("the window grew {why}, from {} to {} bytes", before.get(), after.get())
        });
    }

    /// Returns the controller's answer, and checks the rules that always apply.
    fn control(&mut self) -> Control {
        let control = self.controller.control();
        let again = self.controller.control();
        self.require(Rule::AskingChangesNothing, control == again, || {
            format!("asked twice, it answered {control:?} and {again:?}")
        });
        let window = control.window;
        self.require(Rule::Window, window >= MSS, || {
            format!("the window is {} bytes, less than a segment", window.get())
        });
        self.require(Rule::Window, window <= MOST, || {
            format!("the window is {} bytes, more than 1 GiB", window.get())
        });
        self.require(Rule::EarnedWindow, window <= EARNED, || {
            format!("the window is {} bytes, more than can be earned", window.get())
        });
        let quantum = control.quantum;
        self.require(Rule::Quantum, (MSS..=MOST).contains(&quantum), || {
            format!("the quantum is {} bytes; accepted: one segment to 1 GiB", quantum.get())
        });
        let (timer, now) = (self.controller.next_timer(), self.now);
        self.require(Rule::Timer, timer >= now, || {
            format!("the next timer is at {} s, and it is {} s", timer.as_secs_f64(), now.as_secs_f64())
        });
        control
    }

    fn window(&mut self) -> Bytes {
        self.control().window
    }

    fn send(&mut self, count: u16) {
        for _ in 0..count {
            let in_flight = self.bytes_in_flight() + MSS;
            let before = self.window();
            if in_flight > before {
                break;
            }
            let mut event = SendEvent::at(self.now, MSS);
            event.mss = MSS;
            event.in_flight = in_flight;
            event.rtt = self.rtt;
            let path = self.controller.on_sent(&event, &mut NullProbe);
            let after = self.window();
            self.require_no_growth(Rule::Sending, before, after, "when a packet was sent");
            let delivered = self.delivered;
            self.in_flight.push_back(Sent { number: self.next, at: self.now, path, delivered, in_flight });
            self.next += 1;
        }
    }

    fn acknowledge(&mut self, count: usize, window_limited: bool, word: Option<i8>) {
        let count = count.min(self.in_flight.len());
        if let Some(newest) = count.checked_sub(1).and_then(|index| self.in_flight.get(index)) {
            self.wait((newest.at + self.contract.least_rtt()).since(self.now));
        }
        let in_flight_before = self.bytes_in_flight();
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
        self.deliver(&event);
    }

    fn deliver(&mut self, event: &AckEvent) {
        let (before, phase) = (self.window(), self.controller.phase());
        self.controller.on_ack(event, &mut NullProbe);
        let after = self.window();
        let repaired = self.repairing && !event.in_recovery;
        self.repairing &= event.in_recovery;
        if repaired && self.contract.follows == crate::Follows::Rfc5681UntilRecoveryEnds {
            return; // Linux sets the window to the measured value, without bounds
        }
        // The repair of a dismissed signal does not affect the window.
        if event.in_recovery && !self.controller.dismissed_signal() {
            self.require_no_growth(Rule::Recovery, before, after, "in recovery");
        }
        if !event.window_limited {
            self.require_no_growth(Rule::UnusedWindow, before, after, "although it did not limit the sender");
        }
        if event.acked.is_zero() {
            self.require_no_growth(Rule::Duplicate, before, after, "by a duplicate");
        }
        if matches!(phase, Phase::SlowStart | Phase::ConservativeSlowStart) {
            // The window may shrink when slow start ends (Vegas).
            let ended = self.controller.phase() == Phase::CongestionAvoidance;
            self.require(Rule::SlowStartShrinks, after >= before || ended, || {
                format!("the window shrank in slow start, from {} to {} bytes", before.get(), after.get())
            });
            self.require(Rule::SlowStartGrows, after - before <= event.acked, || {
                let (grown, acked) = ((after - before).get(), event.acked.get());
                format!("the window grew by {grown} bytes in slow start, and {acked} were acknowledged")
            });
        }
    }

    fn lose(&mut self) {
        let flight_size = self.bytes_in_flight();
        if self.in_flight.pop_front().is_none() {
            return;
        }
        // One signal per window of data.
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
        let after = self.window();
        self.require_no_growth(Rule::Signal, before, after, "at a congestion signal");
        let moved = self.controller.ssthresh();
        if self.controller.dismissed_signal() {
            let rule = Rule::DismissedSignal;
            self.require(rule, signal != CongestionSignal::EcnCe, || {
                "it dismissed a mark, which is no error of the path".to_owned()
            });
            self.require(rule, after == before, || "it answered a signal that it dismissed".to_owned());
            self.require(rule, moved == threshold, || {
                "it moved the threshold at a signal that it dismissed".to_owned()
            });
            self.before_signal = None;
            return;
        }
        if let Some(moved) = moved {
            self.require(Rule::Threshold, moved >= MSS * 2, || {
                format!("the slow-start threshold is {} bytes, less than two segments", moved.get())
            });
            if event.consecutive > 1 {
                self.require(Rule::RepeatedTimeout, Some(moved) == threshold, || {
                    "the slow-start threshold moved at a repeated timeout".to_owned()
                });
            }
        }
    }

    fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        let mut timers = 0;
        while self.controller.next_timer() <= end {
            timers += 1;
            self.require(Rule::Timer, timers <= MOST_TIMERS, || {
                format!("it requested {MOST_TIMERS} timers within {} s", time.as_secs_f64())
            });
            if self.is_stopped() {
                return;
            }
            self.now = self.controller.next_timer();
            self.controller.on_timer(self.now, &mut NullProbe);
            self.control();
        }
        let before = self.control();
        self.now = end;
        let after = self.controller.control();
        self.require(Rule::EventsOnly, before == after, || {
            format!("without an event, {before:?} became {after:?}")
        });
    }

    fn undo(&mut self) {
        let current = self.window();
        self.controller.on_spurious(self.now, &mut NullProbe);
        let is_model_based = self.contract.follows == crate::Follows::Model;
        let before = self.before_signal.take().filter(|_| !is_model_based);
        let at_least = before.unwrap_or(current).max(current);
        let after = self.window();
        self.require(Rule::Undo, after >= at_least, || {
            format!("the window is {} bytes after undo, less than {}", after.get(), at_least.get())
        });
        // The proof arrived with an acknowledgment of new data.
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
}
