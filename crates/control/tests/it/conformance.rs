//! Properties of every controller for all outcomes of its packets: the contract of `airpath-conformance`.

use airpath_conformance::{Contract, Follows, Ledger, Operation, Rule, check_controller, operations};
use airpath_control::CongestionEvidence;
use airpath_model::{AckEvent, Bytes, CongestionEvent, Control, Controller, Phase};
use proptest::prelude::*;

use crate::support::{LISTED, MSS, controllers, declared, differentiated};

/// Returns the rules that a controller of the list follows.
fn follows(name: &str) -> Follows {
    match name {
        "westwood+" => Follows::Rfc5681UntilRecoveryEnds,
        _ => declared::follows(name),
    }
}

#[test]
fn every_controller_fulfils_the_contract() {
    for (name, construct) in controllers() {
        check_controller(name, follows(name), construct);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_controller_fulfils_the_contract_with_loss_differentiation(operations in operations()) {
        for (name, construct) in controllers() {
            for evidence in [CongestionEvidence::Feedback, CongestionEvidence::QueueingDelay] {
                let contract = Contract::strict(follows(name));
                let mut ledger = Ledger::new(contract, differentiated(evidence, construct()));
                for &operation in &operations {
                    ledger.apply(operation);
                }
                prop_assert_eq!(ledger.breaches(), [], "{}", name);
            }
        }
    }
}

/// Checks the names, because the simulator's test of completeness reads this list.
#[test]
fn the_list_of_controllers_is_that_of_the_suite() {
    let names: Vec<_> = LISTED.iter().map(|(name, _)| *name).collect();
    let listed = include_str!("../../../../golden/suites/controllers.txt");
    assert_eq!(names, listed.lines().collect::<Vec<_>>());
}

/// Checks that the rules can fail: they detect a controller that breaks one.
#[test]
fn a_controller_that_violates_the_contract_is_detected() {
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
    let mut ledger = Ledger::new(Contract::strict(Follows::Rfc5681), Box::new(Greedy(MSS * 10)));
    ledger.apply(Operation::Send(10));
    ledger.apply(Operation::Lose);
    ledger.apply(Operation::Acknowledge { count: 3, window_limited: true, word: None });
    let broken: Vec<_> = ledger.breaches().iter().map(|breach| breach.rule).collect();
    assert_eq!(broken, [Rule::Recovery]);
}

/// After a spurious timeout in a recovery, the recovery is restored, at the end of which Linux's Westwood+
/// sets the window.
#[test]
fn a_recovery_continues_after_a_spurious_timeout() {
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
    // The same sequence with a mark between the loss and a repeated timeout, from a window of one segment.
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
    for (name, construct) in controllers() {
        for end in [recovery.as_slice(), marked.as_slice()] {
            let mut ledger = Ledger::new(Contract::strict(follows(name)), construct());
            for &operation in measured.iter().chain(&slow_start).chain(end) {
                ledger.apply(operation);
            }
            assert_eq!(ledger.breaches(), [], "{name}");
        }
    }
}
