//! Logs of flows: whole runs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

mod common;

use std::collections::BTreeSet;

use airpath_sim::plan::*;
use airpath_sim::{FlowLog, Outcome, flow_logs};
use common::*;
use serde_json::Value;

/// Two flows over a link that loses, one of them in files.
fn lossy(qlog: bool) -> Plan {
    let links = vec![
        LinkPlan { loss: 0.01, ..link("there", mbps(8), 20.0) },
        link("back", RatePlan::Unlimited, 20.0),
    ];
    let mut plan = plan(10, links, vec![flow("long", cubic()), flow("short", newreno())]);
    plan.flows[1].traffic =
        TrafficPlan::Arrivals { bytes: Draw::Constant { value: 40_000.0 }, mean_interval_ns: 1e9 };
    plan.record.qlog = qlog;
    plan
}

fn logs(plan: &Plan, seed: u64) -> (Outcome, Vec<FlowLog>) {
    let outcome = run(plan, seed);
    let logs = flow_logs(plan, &outcome);
    (outcome, logs)
}

fn events(log: &FlowLog) -> Vec<Value> {
    let texts = log.events.split(|byte| *byte == 0x1e).skip(1);
    texts.map(|text| serde_json::from_slice(text).unwrap()).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["name"] == name).map(|event| &event["data"]).collect()
}

#[test]
fn a_run_is_the_same_with_logs_and_without() {
    let (with, logs) = logs(&lossy(true), 3);
    let without = run(&lossy(false), 3);
    assert!(without.transmissions.is_empty() && logs.len() > 5);
    // As text: NaN is not equal to itself.
    let with = Outcome { transmissions: Vec::new(), ..with };
    assert!(format!("{with:?}") == format!("{without:?}"));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_gives_others() {
    let [first, again, other] = [3, 3, 4].map(|seed| logs(&lossy(true), seed).1);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn every_packet_is_there_once_and_what_is_acknowledged_was_sent() {
    let (outcome, logs) = logs(&lossy(true), 3);
    let flows = table(&outcome, "flows");
    for log in &logs {
        let events = events(log);
        let times: Vec<f64> = events.iter().map(|event| event["time"].as_f64().unwrap()).collect();
        assert!(times.is_sorted(), "flow {}", log.flow);
        let sent = named(&events, "transport:packet_sent");
        let numbers: Vec<u64> =
            sent.iter().map(|data| data["header"]["packet_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..sent.len() as u64).collect::<Vec<_>>());
        assert_eq!(flows.integers("sent_packets")[log.flow as usize], sent.len() as i64);
        let mut arrived = BTreeSet::new();
        for data in named(&events, "transport:packet_received") {
            for range in data["frames"][0]["acked_ranges"].as_array().unwrap() {
                arrived.extend(range[0].as_u64().unwrap()..=range[1].as_u64().unwrap());
            }
        }
        assert!(arrived.last().is_none_or(|last| (*last as usize) < sent.len()));
        let lost: BTreeSet<u64> = named(&events, "recovery:packet_lost")
            .iter()
            .map(|data| data["header"]["packet_number"].as_u64().unwrap())
            .collect();
        assert_eq!(flows.integers("retransmitted_packets")[log.flow as usize], lost.len() as i64);
        assert!(lost.is_disjoint(&arrived), "flow {}", log.flow);
    }
}

#[test]
fn the_sender_its_controller_and_the_link_are_told() {
    let (outcome, logs) = logs(&lossy(true), 3);
    let events = events(&logs[0]);
    let metrics = named(&events, "recovery:metrics_updated");
    let series = outcome.flow_series.table();
    let mine = series.integers("flow").iter().filter(|flow| **flow == 0).count();
    assert_eq!(metrics.len(), mine);
    let last = metrics[metrics.len() - 1];
    assert!(last["min_rtt"].as_f64().unwrap() >= 40.0 && last["min_rtt"].as_f64().unwrap() < 45.0, "{last}");
    assert!(
        last["smoothed_rtt"].as_f64().unwrap() >= 40.0 && last["congestion_window"].as_u64().unwrap() > 0
    );
    let states = named(&events, "recovery:congestion_state_updated");
    assert!(states.iter().any(|state| state["new"] == "congestion_avoidance"), "{states:?}");
    assert!(states.iter().any(|state| state["new"] == "recovery" && state["trigger"] == "loss"));
    assert!(states.windows(2).all(|pair| pair[1]["old"] == pair[0]["new"]), "{states:?}");
    let link = named(&events, "airpath:link_updated");
    assert!(link.len() == 100 && link.iter().all(|data| data["capacity_bps"] == 8_000_000), "{:?}", link[0]);
}
