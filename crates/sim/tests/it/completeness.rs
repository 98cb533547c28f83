//! Every kind that a plan can name is in the conformance suite of its crate.
//!
//! The suites list their members in `golden/suites`, and each suite fails if its list is not current.

use std::collections::BTreeSet;
use std::fmt::Debug;

use airpath_sim::components;
use airpath_sim::plan::{ControllerPlan, QueuePlan};
use serde::de::DeserializeOwned;

const CONTROLLERS: &str = include_str!("../../../../golden/suites/controllers.txt");
const QUEUES: &str = include_str!("../../../../golden/suites/queues.txt");
const SOURCES: &str = include_str!("../../../../golden/suites/sources.txt");
const ACK_RATES: &str = include_str!("../../../../golden/suites/ack_rates.txt");

/// The JSON text of an unknown kind, for an enum that is tagged with `kind`.
const TAGGED: &str = r#"{"kind": "?"}"#;

/// Returns all kinds of a plan's enum: serde lists them when it finds an unknown one.
fn kinds<T: DeserializeOwned + Debug>(unknown: &str) -> BTreeSet<String> {
    let error = serde_json::from_str::<T>(unknown).unwrap_err().to_string();
    let (_, expected) = error.split_once("unknown variant `?`, expected").expect(&error);
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The suite member of a kind that is implemented only by the operating system's kernel or by quinn.
const NONE: &str = "";

/// Returns the ids of the declared components of this kind.
fn declared(kind: &str) -> BTreeSet<String> {
    let schemas = components().schemas();
    schemas[kind]["x-order"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Returns the kinds with their own variant in the plan.
fn listed(kinds: &[&str]) -> BTreeSet<String> {
    kinds.iter().map(|&kind| kind.to_owned()).collect()
}

/// Checks that `members` names a member of the suite for each kind of the enum, by its first words.
fn assert_complete<T: DeserializeOwned + Debug>(unknown: &str, suite: &str, members: &[(&str, &str)]) {
    assert_members(&kinds::<T>(unknown), suite, members);
}

fn assert_members(kinds: &BTreeSet<String>, suite: &str, members: &[(&str, &str)]) {
    let known: BTreeSet<String> = members.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    assert_eq!(*kinds, known, "kinds of the plan, and those with a member of the suite");
    for (kind, member) in members {
        let is_member = |line: &str| {
            line.strip_prefix(member).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '(']))
        };
        assert!(*member == NONE || suite.lines().any(is_member), "{kind}: the suite has no {member}");
    }
}

/// The suite reads the declared components from their registry.
#[test]
fn every_controller_is_in_the_suite() {
    assert_members(
        &listed(ControllerPlan::NOT_DECLARED),
        CONTROLLERS,
        &[("agent", "agent"), ("kernel", NONE), ("quinn", NONE)],
    );
    let of_one_crate = airpath_control::declare::Components::builtin();
    let composed: BTreeSet<_> =
        declared("controller").into_iter().filter(|id| !of_one_crate.controllers.has(id)).collect();
    let members = [("westwood", "westwood"), ("cubic-ebe", "cubic-ebe")];
    assert_members(&composed, CONTROLLERS, &members);
}

#[test]
fn every_slow_start_is_in_the_suite() {
    let members = [
        ("standard", "newreno"),
        ("per-acknowledgment", "newreno-per-acknowledgment"),
        ("every-other-round", "vegas-every-other-round"),
        ("hystart++", "newreno-hystart++"),
        ("hoe", "newreno-hoe"),
    ];
    assert_members(&declared("slow-start"), CONTROLLERS, &members);
}

#[test]
fn every_queue_is_in_the_suite() {
    assert_complete::<QueuePlan>(
        TAGGED,
        QUEUES,
        &[("drop-tail", "drop-tail of packets"), ("router", "xcp"), ("managed", "red")],
    );
    let protocols = [("xcp", "xcp"), ("vcp", "vcp"), ("mpcp", "mpcp"), ("qfcp", "qfcp"), ("abc", "abc")];
    assert_members(&declared("router-protocol"), QUEUES, &protocols);
    let managed = [
        ("red", "red"),
        ("rem", "rem"),
        ("avq", "avq"),
        ("codel", "codel"),
        ("fq-codel", "fq-codel"),
        ("pie", "pie"),
        ("dual-pi2", "dual-pi2"),
        ("priority", "priority"),
        ("drr", "drr"),
        ("weighted-drr", "weighted drr"),
        ("policer", "policer"),
    ];
    assert_members(&declared("queue"), QUEUES, &managed);
}

#[test]
fn every_capacity_source_is_in_the_suite() {
    let members = [
        ("configured", "configured"),
        ("oracle", "oracle"),
        ("xcp-b", "xcp-b"),
        ("qfcp", "qfcp"),
        ("ebe", "ebe"),
        ("busy", "busy"),
    ];
    assert_members(&declared("capacity-source"), SOURCES, &members);
}

#[test]
fn every_ack_rate_estimator_is_in_the_suite() {
    let estimators = [("filtered", "sampler"), ("westwood-plus", "WestwoodPlus")];
    assert_members(&declared("ack-rate"), ACK_RATES, &estimators);
    let samplers = [
        ("per-ack", "sampler PerAck"),
        ("round-trip", "sampler RoundTrip"),
        ("interval", "sampler Interval"),
        ("receiver-clock", "sampler ReceiverClock"),
        ("delivery-rate", "sampler DeliveryRate"),
        ("back-to-back", "sampler BackToBack"),
    ];
    assert_members(&declared("sampler"), ACK_RATES, &samplers);
    let filters = [
        ("none", "filter None"),
        ("zero-order-hold", "filter ZeroOrderHold"),
        ("time-invariant", "filter TimeInvariant"),
        ("bilinear", "filter Bilinear"),
        ("stability", "filter Stability"),
        ("two-state", "filter TwoState"),
        ("median", "filter Median"),
        ("first", "filter First"),
    ];
    assert_members(&declared("filter"), ACK_RATES, &filters);
}
