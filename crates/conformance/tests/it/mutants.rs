//! Controllers that break one rule each.

use std::sync::atomic::{AtomicU64, Ordering};

use airpath_conformance::{
    Contract, Examination, Follows, MSS, Operation, Rule, check, check_controller, examine,
};
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Control, Controller, Duration, Pacing, PathHeader,
    Phase, Probe, SendEvent, Timestamp,
};

/// Additive increase, multiplicative decrease, except for one rule.
#[derive(Debug)]
struct Aimd {
    /// The rule that it breaks.
    breaks: Option<Rule>,
    /// Number of the instance, if two instances differ.
    instance: u64,
    /// Number of requests for an answer.
    asked: AtomicU64,
    window: Bytes,
    ssthresh: Bytes,
    /// Window and threshold before the last signal.
    before: Option<(Bytes, Bytes)>,
    dismissed: bool,
    now: Timestamp,
}

impl Aimd {
    fn new(breaks: Option<Rule>, instance: u64) -> Self {
        let (window, ssthresh) = (MSS * 10, Bytes::MAX);
        let asked = AtomicU64::new(0);
        Self {
            breaks,
            instance,
            asked,
            window,
            ssthresh,
            before: None,
            dismissed: false,
            now: Timestamp::ZERO,
        }
    }

    fn breaks(&self, rule: Rule) -> bool {
        self.breaks == Some(rule)
    }

    fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }
}

impl Controller for Aimd {
    fn on_sent(&mut self, _: &SendEvent, _: &mut dyn Probe) -> PathHeader {
        self.window += if self.breaks(Rule::Sending) { MSS } else { Bytes::ZERO };
        PathHeader::None
    }

    fn on_ack(&mut self, event: &AckEvent, _: &mut dyn Probe) {
        self.now = event.now;
        self.dismissed = false;
        assert!(!(self.breaks(Rule::NoError) && event.duplicate), "a duplicate");
        if self.breaks(Rule::SlowStartShrinks) && self.window < self.ssthresh {
            self.window = (self.window - Bytes::new(1)).max(MSS);
            return;
        }
        let grows = (!event.in_recovery || self.breaks(Rule::Recovery))
            && (event.window_limited || self.breaks(Rule::UnusedWindow));
        if !grows {
            return;
        }
        let earned = if event.acked.is_zero() && self.breaks(Rule::Duplicate) { MSS } else { event.acked };
        self.window += if self.window < self.ssthresh {
            earned * if self.breaks(Rule::SlowStartGrows) { 2 } else { 1 }
        } else if self.breaks(Rule::EarnedWindow) {
            earned * 100
        } else {
            earned.mul_f64(MSS.as_f64() / self.window.as_f64())
        };
        if self.breaks(Rule::Window) && self.window > MSS * 20 {
            self.window = MSS - Bytes::new(1);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent, _: &mut dyn Probe) {
        self.dismissed = self.breaks(Rule::DismissedSignal) && event.signal == CongestionSignal::Loss;
        if self.breaks(Rule::Signal) && event.signal == CongestionSignal::EcnCe {
            self.window += MSS;
            return;
        }
        if event.consecutive <= 1 {
            self.before = Some((self.window, self.ssthresh));
        }
        let least = MSS * if self.breaks(Rule::Threshold) { 1 } else { 2 };
        if event.consecutive <= 1 || self.breaks(Rule::RepeatedTimeout) {
            self.ssthresh = event.flight_size.mul_f64(0.5).max(least);
        }
        self.window = self.window.min(match event.signal {
            CongestionSignal::Timeout => MSS,
            _ => self.ssthresh,
        });
    }

    fn on_spurious(&mut self, _: Timestamp, _: &mut dyn Probe) {
        if let Some((window, ssthresh)) = self.before.take()
            && !self.breaks(Rule::Undo)
        {
            (self.window, self.ssthresh) = (window.max(self.window), ssthresh.max(self.ssthresh));
        }
    }

    fn dismissed_signal(&self) -> bool {
        self.dismissed
    }

    fn next_timer(&self) -> Timestamp {
        if self.breaks(Rule::EventsOnly) {
            self.ask();
        }
        let is_past = self.breaks(Rule::Timer) && self.now > Timestamp::ZERO;
        if is_past { Timestamp::ZERO } else { Timestamp::NEVER }
    }

    fn control(&self) -> Control {
        if self.breaks(Rule::AskingChangesNothing) {
            self.ask();
        }
        let asked = self.asked.load(Ordering::Relaxed);
        let quantum = if self.breaks(Rule::Quantum) { Bytes::ZERO } else { MSS };
        Control {
            window: self.window,
            pacing: Pacing::Off,
            quantum: quantum + Bytes::new(asked + self.instance),
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        Some(self.ssthresh)
    }

    fn phase(&self) -> Phase {
        if self.window < self.ssthresh { Phase::SlowStart } else { Phase::CongestionAvoidance }
    }
}

fn mutant(breaks: Option<Rule>) -> impl Fn() -> Box<dyn Controller> {
    let instances = AtomicU64::new(0);
    move || {
        let instance = u64::from(breaks == Some(Rule::SameAnswers));
        Box::new(Aimd::new(breaks, instances.fetch_add(instance, Ordering::Relaxed)))
    }
}

#[test]
fn a_controller_without_a_fault_fulfils_every_rule() {
    check_controller("aimd", Follows::Rfc5681, || Box::new(Aimd::new(None, 0)));
}

#[test]
fn violations_of_each_rule_are_detected() {
    for rule in Rule::ALL {
        let subject = mutant(Some(rule));
        let failing = check(Contract::strict(Follows::Rfc5681), &subject).unwrap_err();
        assert_eq!(failing.breach.rule, rule, "{failing}");
        let again = check(Contract::strict(Follows::Rfc5681), &subject).unwrap_err();
        assert_eq!(failing.operations, again.operations, "{rule:?}");
    }
}

/// The search returns one list per broken rule. It breaks the rule at its last operation, and needs all of
/// them.
#[test]
fn lists_are_counted_and_shortened() {
    for rule in Rule::ALL {
        let (contract, subject) = (Contract::of(Follows::Rfc5681), mutant(Some(rule)));
        let mut examination = Examination::new(contract, 1);
        examination.examine(&subject, 30);
        examination.examine(&subject, 70);
        assert!((5..=100).contains(&examination.broken(rule)), "{rule:?}: {}", examination.broken(rule));
        let failing = examination.shortest(&subject, rule).unwrap();
        assert!(failing.operations.len() <= 10, "{failing}");
        assert_eq!(failing.breach.operation, failing.operations.len().checked_sub(1), "{failing}");
        for index in 0..failing.operations.len() {
            let mut shorter = failing.operations.clone();
            shorter.remove(index);
            let broken = examine(contract, &subject, &shorter);
            assert!(broken.iter().all(|breach| breach.rule != rule), "{failing}");
        }
    }
    let mut examination = Examination::new(Contract::of(Follows::Rfc5681), 1);
    examination.examine(&mutant(None), 100);
    assert!(Rule::ALL.iter().all(|&rule| examination.broken(rule) == 0));
}

/// Rules that do not bind a controller are not reported as broken.
#[test]
fn a_controller_follows_the_rules_that_apply_to_it() {
    for rule in [Rule::Sending, Rule::Recovery, Rule::UnusedWindow, Rule::Duplicate, Rule::SlowStartGrows] {
        assert_eq!(
            check(Contract::strict(Follows::Model), &mutant(Some(rule))).err().map(|one| one.breach),
            None
        );
    }
    check(Contract::strict(Follows::Routers), &mutant(Some(Rule::Recovery))).unwrap();
    check(Contract::strict(Follows::Faster), &mutant(Some(Rule::SlowStartGrows))).unwrap();
    assert!(check(Contract::strict(Follows::Model), &mutant(Some(Rule::Timer))).is_err());
}

#[test]
fn a_timer_that_always_fires_is_detected() {
    #[derive(Debug)]
    struct Endless;
    impl Controller for Endless {
        fn on_ack(&mut self, _: &AckEvent, _: &mut dyn Probe) {}
        fn on_congestion(&mut self, _: &CongestionEvent, _: &mut dyn Probe) {}
        fn next_timer(&self) -> Timestamp {
            Timestamp::ZERO + Duration::from_millis(3)
        }
        fn control(&self) -> Control {
            Control { window: MSS, pacing: Pacing::Off, quantum: MSS }
        }
        fn phase(&self) -> Phase {
            Phase::Steady
        }
    }
    let endless = || Box::new(Endless) as Box<dyn Controller>;
    let broken = examine(Contract::of(Follows::Model), &endless, &[Operation::Wait(2), Operation::Wait(2)]);
    let found: Vec<_> = broken.iter().map(|breach| (breach.rule, breach.operation)).collect();
    assert_eq!(found, [(Rule::Timer, Some(1))], "{broken:?}");
}
