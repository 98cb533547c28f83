//! Components of airpath as libraries give the tables of the built-in ones, bit by bit.

use airpath_plugin_host::Library;
use airpath_sim::plan::{EstimatorPlan, Plan, QueuePlan, SourcePlan};
use airpath_sim::{Column, Outcome, Table};
use serde_json::{Value, json};

use crate::common;
use crate::examples::example;
use crate::support::{ID, controller, library, run_with, shared_link};

/// Tables as bits, because a missing value is NaN, which equals nothing.
fn bits(outcome: Outcome) -> Vec<(&'static str, &'static str, Vec<u64>)> {
    let tables = outcome.tables.into_iter().chain([outcome.flow_series.table()]);
    let columns = tables.flat_map(|Table { name, columns }| {
        columns.into_iter().map(move |(column, values)| {
            let values = match values {
                Column::I64(values) => values.into_iter().map(|value| value as u64).collect(),
                Column::F64(values) => values.into_iter().map(f64::to_bits).collect(),
            };
            (name, column, values)
        })
    });
    columns.collect()
}

/// Runs a plan with the built-in component and with that of the library, and compares all tables. Returns the number of rows
/// of the table that `used` names.
fn assert_equal(loaded: &Library, own: &Plan, of_library: &Plan, seed: u64, used: &str) -> usize {
    let expected = common::run(own, seed);
    let quantities = expected.quantities.clone();
    let (outcome, fault) = run_with(loaded, of_library, seed);
    assert_eq!(fault, None);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.quantities, quantities);
    let (expected, found) = (bits(expected), bits(outcome));
    for (expected, found) in expected.iter().zip(&found) {
        assert!(expected == found, "{}.{} differs, seed {seed}", expected.0, expected.1);
    }
    assert_eq!(expected.len(), found.len());
    expected.iter().find(|(table, _, _)| *table == used).unwrap().2.len()
}

#[test]
fn cubic_as_a_library_produces_the_same_tables() {
    let loaded = Library::open(&example("cubic")).unwrap();
    for (beta, seed) in [(0.7, 1), (0.7, 2), (0.5, 1)] {
        let own = shared_link(&controller("cubic", json!({ "beta": beta })), 30);
        let of_library = shared_link(&library(json!({ "beta": beta })), 30);
        let events = assert_equal(&loaded, &own, &of_library, seed, "flow_events");
        // Enough losses that every part of the controller was used.
        assert!(events > 20, "{events} events");
    }
}

/// Two CUBIC flows that support ECN, behind this queue.
fn behind(queue: QueuePlan) -> Plan {
    let mut plan = shared_link(&controller("cubic", json!({})), 20);
    plan.links[0].queue = queue;
    for flow in &mut plan.flows {
        flow.transport.as_mut().unwrap().ecn = true;
    }
    plan
}

#[test]
fn codel_as_a_library_produces_the_same_tables() {
    let loaded = Library::open(&example("codel")).unwrap();
    for (ecn, limit_packets) in [(false, Some(60)), (true, Some(60)), (false, None)] {
        let queue = |kind: &str| {
            let options = json!({
                "kind": kind, "target": 2_000_000, "interval": 50_000_000, "packet": 1500, "ecn": ecn
            });
            let management = serde_json::from_value(options).unwrap();
            behind(QueuePlan::Managed { limit_bytes: None, limit_packets, management })
        };
        let table = if ecn { "link_observations" } else { "drops" };
        let rows = assert_equal(&loaded, &queue("codel"), &queue(ID), 1, table);
        assert!(rows > 20, "{rows} rows of {table}");
    }
}

#[test]
fn drop_tail_as_a_library_produces_the_same_tables() {
    let loaded = Library::open(&example("router")).unwrap();
    for (limit_bytes, limit_packets) in [(None, Some(20)), (Some(40_000), None)] {
        let own = behind(QueuePlan::DropTail { limit_bytes, limit_packets });
        let management = serde_json::from_value(json!({ "kind": ID })).unwrap();
        let of_library = behind(QueuePlan::Managed { limit_bytes, limit_packets, management });
        let drops = assert_equal(&loaded, &own, &of_library, 1, "drops");
        assert!(drops > 20, "{drops} drops");
    }
}

/// Two flows of Westwood over an estimator, each of which runs another instance that controls nothing.
fn westwood_over(estimator: &Value) -> Plan {
    let mut plan = shared_link(&controller("westwood", json!({ "estimator": estimator })), 30);
    let estimator = serde_json::from_value(estimator.clone()).unwrap();
    plan.estimators = vec![EstimatorPlan { name: "observer".into(), estimator }];
    for flow in &mut plan.flows {
        flow.estimators = vec![0];
    }
    plan
}

#[test]
fn westwood_plus_as_a_library_produces_the_same_tables() {
    let loaded = Library::open(&example("estimators")).unwrap();
    for hz in [1000, 250] {
        let plan = |kind: &str| westwood_over(&json!({ "kind": kind, "ticks_per_second": hz }));
        let estimates = assert_equal(&loaded, &plan("westwood-plus"), &plan(ID), 1, "flow_estimates");
        assert!(estimates > 200, "{estimates} estimates");
    }
}

/// Two XCP flows on a link whose router has this source.
fn routed(source: Value) -> Plan {
    let mut plan = shared_link(&controller("xcp", json!({})), 20);
    plan.links[0].queue = QueuePlan::Router {
        limit_bytes: None,
        limit_packets: Some(50),
        protocol: common::xcp_protocol([20_000_000, 1_000_000_000]),
        source: serde_json::from_value::<SourcePlan>(source).unwrap(),
    };
    plan
}

#[test]
fn capacity_sources_as_libraries_produce_the_same_tables() {
    let xcp_b = Library::open(&example("router")).unwrap();
    let source = |kind: &str| routed(json!({ "kind": kind, "chi": 0.1 }));
    let rows = assert_equal(&xcp_b, &source("xcp-b"), &source(ID), 1, "link_observations");
    assert!(rows > 300, "{rows} observations");
    let ebe = Library::open(&example("estimators")).unwrap();
    let own = routed(json!({
        "kind": "ebe", "capacity": 5_000_000, "upsilon": 1.4, "min_capacity": 40_000,
        "max_capacity": 8_000_000_000_000_u64, "packet": 1000
    }));
    let of_library = routed(json!({ "kind": ID, "capacity": 5_000_000 }));
    let rows = assert_equal(&ebe, &own, &of_library, 1, "link_observations");
    assert!(rows > 1000, "{rows} observations");
}
