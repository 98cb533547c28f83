//! One suite for all disciplines: for all operations, a queue fulfils the contract of `Qdisc`.
//!
//! A new discipline adds its constructors to [`disciplines`]. The suite is itself tested, on queues that
//! break the contract.

mod contract;
mod faulty;
mod managed;

use std::cell::Cell;

use airpath_model::{Bytes, DropReason, Duration, Ecn, Qdisc};
use airpath_queue::{
    Abc, AbcConfig, DropTail, Limit, LoadFactor, LoadFactorConfig, Mpcp, Qfcp, QfcpConfig, Router,
    RouterProtocol, Vcp, Xcp, XcpConfig,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::packet::TestPacket;
use crate::source::Known;
use contract::{Action, Operation, run};
use faulty::{Fault, Faulty};

/// A queue under test.
struct Discipline {
    name: &'static str,
    limit: Limit,
    make: fn(Limit) -> Box<dyn Qdisc<TestPacket>>,
    /// Returns the lane of a packet; packets of one lane keep their order.
    lane: fn(&TestPacket) -> u64,
}

impl Discipline {
    /// Creates a discipline that keeps the order of each flow.
    fn new(name: &'static str, limit: Limit, make: fn(Limit) -> Box<dyn Qdisc<TestPacket>>) -> Self {
        Self { name, limit, make, lane: |packet| packet.flow }
    }
}

fn disciplines() -> Vec<Discipline> {
    let drop_tail = |limit| Box::new(DropTail::new(limit)) as Box<dyn Qdisc<TestPacket>>;
    let mut all: Vec<Discipline> = vec![
        Discipline::new("drop-tail without limit", Limit::Unlimited, drop_tail),
        Discipline::new("drop-tail of packets", Limit::Packets(5), drop_tail),
        Discipline::new("drop-tail of bytes", Limit::Bytes(Bytes::new(6000)), drop_tail),
        Discipline::new("xcp", Limit::Bytes(Bytes::new(6000)), |limit| router(limit, xcp())),
        Discipline::new("qfcp", Limit::Packets(5), |limit| router(limit, qfcp())),
        Discipline::new("vcp", Limit::Bytes(Bytes::new(6000)), |limit| {
            router(limit, Vcp::new(load_factor()))
        }),
        Discipline::new("abc", Limit::Packets(5), |limit| router(limit, abc())),
        Discipline::new("mpcp", Limit::Packets(5), |limit| router(limit, Mpcp::new(load_factor()))),
    ];
    all.extend(managed::disciplines());
    all
}

fn router<T: RouterProtocol<TestPacket> + 'static>(limit: Limit, protocol: T) -> Box<dyn Qdisc<TestPacket>> {
    Box::new(Router::new(limit, protocol))
}

fn xcp() -> Xcp {
    Xcp::new(XcpConfig::NS2, Box::new(Known(125_000.0)), Bytes::new(6000))
        .expect("the parameters are in range")
}

fn qfcp() -> Qfcp {
    let config = QfcpConfig { beta: 0.5, control_interval: Duration::from_millis(200) };
    Qfcp::new(config, Box::new(Known(125_000.0)), Bytes::new(6000)).expect("the parameters are in range")
}

fn abc() -> Abc {
    Abc::new(AbcConfig::default(), Box::new(Known(125_000.0))).expect("the parameters are in range")
}

fn load_factor() -> LoadFactor {
    LoadFactor::new(LoadFactorConfig::default(), Box::new(Known(125_000.0)))
        .expect("the parameters are in range")
}

/// Checks the names, because the simulator's test of completeness reads this list.
#[test]
fn the_list_of_disciplines_is_that_of_the_suite() {
    let names: Vec<_> = disciplines().iter().map(|discipline| discipline.name).collect();
    let listed = include_str!("../../../../golden/suites/queues.txt");
    assert_eq!(names, listed.lines().collect::<Vec<_>>());
}

#[test]
fn every_discipline_fulfils_the_contract() {
    for Discipline { name, limit, make, lane } in disciplines() {
        let outcome = TestRunner::default().run(&operations(), |operations| {
            let first = run(&mut *make(limit), limit, lane, &operations)
                .map_err(|breach| TestCaseError::fail(format!("{name}: {breach}")))?;
            let second = run(&mut *make(limit), limit, lane, &operations);
            prop_assert_eq!(Ok(first), second, "{}: same operations, other result", name);
            Ok(())
        });
        assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

/// Without marks and early drops, their contract would not be tested.
#[test]
fn every_managed_queue_acts_under_these_operations() {
    for Discipline { name, limit, make, lane } in managed::disciplines() {
        if name.starts_with("priority") || name.contains("drr") {
            continue; // these choose no packets
        }
        let acted = Cell::new(0);
        let outcome = TestRunner::deterministic().run(&operations(), |operations| {
            let deeds = run(&mut *make(limit), limit, lane, &operations).map_err(TestCaseError::fail)?;
            let acts =
                |deed: &&Action| matches!(deed, Action::Marked(..) | Action::Dropped(.., DropReason::Early));
            acted.set(acted.get() + deeds.iter().filter(acts).count());
            Ok(())
        });
        assert!(outcome.is_ok() && acted.get() > 100, "{name}: {} packets", acted.get());
    }
}

#[test]
fn every_violation_is_detected() {
    for fault in Fault::ALL {
        let limit = Limit::Packets(5);
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&operations(), |operations| {
            run(&mut Faulty::new(limit, fault), limit, |packet| packet.flow, &operations)
                .map(drop)
                .map_err(TestCaseError::fail)
        });
        assert!(outcome.is_err(), "{fault:?} was not detected");
    }
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect1), Just(Ecn::Ect0), Just(Ecn::Ce)];
    let size = prop_oneof![Just(40), Just(1500), 1..9000_u64].prop_map(Bytes::new);
    let operation = prop_oneof![
        4 => (size, ecn, 0..3_u64, any::<bool>()).prop_map(|(size, ecn, flow, is_data)| Operation::Enqueue {
            size,
            ecn,
            flow,
            is_data,
        }),
        3 => Just(Operation::Dequeue),
        1 => (0..200_000_000_u64, any::<bool>())
            .prop_map(|(nanos, late)| Operation::Wait { span: Duration::from_nanos(nanos), late }),
    ];
    prop::collection::vec(operation, 0..120)
}
