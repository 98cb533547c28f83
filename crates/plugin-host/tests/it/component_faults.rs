//! A fault of an estimator, a source or a queue of a library ends its run with one line.

use airpath_plugin_host::Library;
use airpath_sim::plan::{Plan, QueuePlan};
use serde_json::json;

use crate::common;
use crate::examples::example;
use crate::support::{ID, controller, run_with, shared_link};

/// The fault, the beginning of its text, and its end.
type Fault = (&'static str, &'static str, &'static str);

const OF_ALL: [Fault; 3] = [
    ("start", "create: as asked", ""),
    ("start_panic", "create: panicked at crates/plugin/examples/faulty_components.rs:", "as asked"),
    ("panic", "", ": after 100 events"),
];
const OF_ESTIMATORS: [Fault; 3] = [
    ("sample", "after on_ack, sample is -8; accepted: 0 to 1000000000000000", ""),
    ("not_a_number", "after on_ack, bandwidth is NaN; accepted: 0 to 1000000000000000", ""),
    ("rtt", "after on_ack, minimum_rtt is 10000000000000000; accepted: 0 to 1000000000000000", ""),
];
const OF_LINKS: [Fault; 3] = [
    ("past", "after ", " s"),
    ("timers", "next_timer is ", " s"),
    ("quantity", "observe: panicked at ", "QUANTITIES contains no \"unknown\""),
];
const OF_SOURCES: [Fault; 3] = [
    ("capacity", "after on_arrival, capacity is -8; accepted: 0 to 1000000000000000", ""),
    ("probing", "after on_arrival, probing is inf; accepted: 0 to 1000000", ""),
    ("spare", "after spare, spare is NaN and queue is ", "; accepted: finite numbers"),
];
const OF_QUEUES: [Fault; 3] = [
    ("full", "", " packets wait, which is more than the buffer has"),
    ("dropped", "in enqueue, there is no packet ", " in the queue"),
    ("twice", "in dequeue, there is no packet ", " in the queue"),
];

fn estimator(fault: &str) -> Plan {
    let estimator = json!({ "kind": ID, "fault": fault });
    shared_link(&controller("westwood", json!({ "estimator": estimator })), 5)
}

fn source(fault: &str) -> Plan {
    let mut plan = shared_link(&controller("xcp", json!({})), 5);
    plan.links[0].queue = QueuePlan::Router {
        limit_bytes: None,
        limit_packets: Some(20),
        protocol: common::xcp_protocol([20_000_000, 1_000_000_000]),
        source: serde_json::from_value(json!({ "kind": ID, "fault": fault })).unwrap(),
    };
    plan
}

fn queue(fault: &str) -> Plan {
    let mut plan = shared_link(&controller("cubic", json!({})), 5);
    let management = serde_json::from_value(json!({ "kind": ID, "fault": fault })).unwrap();
    plan.links[0].queue = QueuePlan::Managed { limit_bytes: None, limit_packets: Some(20), management };
    plan
}

/// Checks that a fault-free run ends, and that each fault is noticed.
fn assert_noticed(plan: fn(&str) -> Plan, faults: &[&[Fault]]) {
    let loaded = Library::open(&example("faulty_components")).unwrap();
    let (outcome, fault) = run_with(&loaded, &plan("none"), 1);
    assert!(outcome.is_some() && fault.is_none(), "{fault:?}");
    for (fault, start, end) in faults.concat() {
        let (_, found) = run_with(&loaded, &plan(fault), 1);
        let (text, at) = found.unwrap_or_else(|| panic!("{fault} was not detected"));
        assert!(text.starts_with(&format!("lib.so: {start}")) && text.ends_with(end), "{fault}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert_eq!(at.is_none(), fault.starts_with("start"), "{fault}: {at:?}");
    }
}

#[test]
fn each_fault_of_an_estimator_ends_its_run_with_one_line() {
    assert_noticed(estimator, &[&OF_ALL, &OF_ESTIMATORS]);
}

#[test]
fn each_fault_of_a_source_ends_its_run_with_one_line() {
    assert_noticed(source, &[&OF_ALL, &OF_LINKS, &OF_SOURCES]);
}

#[test]
fn each_fault_of_a_queue_ends_its_run_with_one_line() {
    assert_noticed(queue, &[&OF_ALL, &OF_LINKS, &OF_QUEUES]);
}
