//! Flow logs of whole runs.

#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

use std::collections::BTreeSet;

use crate::common::*;
use airpath_model::Timestamp;
use airpath_sim::network::{Transmission, Transmissions};
use airpath_sim::plan::*;
use airpath_sim::{FlowLog, Outcome, flow_logs};
use serde_json::Value;

/// Returns a plan with two flows over a lossy link, one of them with files.
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
fn logging_does_not_change_a_run() {
    let (with, logs) = logs(&lossy(true), 3);
    let without = run(&lossy(false), 3);
    assert!(without.transmissions.is_empty() && logs.len() > 5);
    assert!(flow_logs(&lossy(false), &without).is_empty());
    // Compared as text, because NaN is not equal to itself.
    let with = Outcome { transmissions: Vec::new(), ..with };
    assert!(format!("{with:?}") == format!("{without:?}"));
}

#[test]
fn the_same_seed_writes_the_same_bytes_and_another_seed_does_not() {
    let [first, again, other] = [3, 3, 4].map(|seed| logs(&lossy(true), seed).1);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn every_packet_occurs_once_and_acknowledged_packets_were_sent() {
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
fn the_log_contains_sender_controller_and_link_events() {
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

/// Returns the log of one flow over a second, with its packet events replaced by `kept`; times in
/// milliseconds.
fn log_of(kept: Transmissions) -> Vec<Value> {
    let links = round_trip_links(link("there", mbps(8), 20.0), 20.0);
    let mut plan = plan(1, links, vec![flow("f", fixed(14_600))]);
    plan.record.qlog = true;
    let outcome = Outcome { transmissions: vec![kept], ..run(&plan, 1) };
    events(&flow_logs(&plan, &outcome)[0])
}

fn at(ms: u64) -> Timestamp {
    Timestamp::from_nanos(ms * MILLISECOND)
}

#[test]
fn acknowledgments_are_complete_and_time_their_newest_packet() {
    let sent = |packet, again| Transmission::Sent { packet, bytes: 1460, again };
    let came = Transmission::Acknowledgment { bytes: Some(52) };
    let arrived = |packet| Transmission::Acknowledged { packet };
    let mut kept = Transmissions::new(0, 1);
    (0..5).for_each(|packet| kept.push(at(10 + packet), sent(packet, false)));
    let later = [
        (50, &[came, arrived(0), arrived(3), arrived(2)][..]),
        (60, &[came]),
        (70, &[sent(5, true)]),
        (120, &[came, arrived(1)]),
        (125, &[came]),
        // The newest of these was a retransmission: its round trip is ambiguous.
        (220, &[came, arrived(4), arrived(5)]),
    ];
    for (ms, what) in later {
        for what in what {
            kept.push(at(ms), *what);
        }
    }
    let events = log_of(kept);
    let acknowledgments = named(&events, "transport:packet_received");
    let ranges: Vec<&Value> = acknowledgments.iter().map(|data| &data["frames"][0]["acked_ranges"]).collect();
    // An acknowledgment without new data repeats the largest number.
    let expected = [
        serde_json::json!([[0, 0], [2, 3]]),
        serde_json::json!([[3, 3]]),
        serde_json::json!([[1, 1]]),
        serde_json::json!([[3, 3]]),
        serde_json::json!([[4, 5]]),
    ];
    assert_eq!(ranges, expected.iter().collect::<Vec<_>>());
    for (number, data) in (0..).zip(&acknowledgments) {
        assert_eq!((&data["header"]["packet_number"], &data["raw"]["length"]), (&number.into(), &52.into()));
    }
    let metrics = named(&events, "recovery:metrics_updated");
    let samples: Vec<(f64, f64)> = metrics[..3]
        .iter()
        .map(|data| (data["latest_rtt"].as_f64().unwrap(), data["min_rtt"].as_f64().unwrap()))
        .collect();
    assert_eq!(samples, [(37.0, 37.0), (109.0, 37.0), (109.0, 37.0)]);
}

#[test]
fn omitted_packets_are_reported_once_in_the_log() {
    // With this number of flows, there is room for two entries of each.
    let mut kept = Transmissions::new(0, 1 << 20);
    for packet in 0..4 {
        kept.push(at(240 + 10 * packet), Transmission::Sent { packet, bytes: 1460, again: false });
    }
    let events = log_of(kept);
    assert_eq!(named(&events, "transport:packet_sent").len(), 2);
    let places: Vec<usize> =
        (0..events.len()).filter(|&place| events[place]["name"] == "airpath:packets_left_out").collect();
    let [place] = places[..] else { panic!("{places:?}") };
    assert_eq!(events[place]["time"], 260.0);
    assert!(events[place - 1]["time"].as_f64().unwrap() <= 260.0);
    assert!(events[place + 1]["time"].as_f64().unwrap() >= 260.0);
    assert_eq!(named(&events, "recovery:metrics_updated").len(), 10);
}

/// Returns the number of congestion events of each kind of a flow, in the order of their codes.
fn signals(outcome: &Outcome, flow: i64) -> [usize; 5] {
    let rows = table(outcome, "flow_events");
    let mut count = [0; 5];
    for (&event, _) in rows.integers("event").iter().zip(rows.integers("flow")).filter(|(_, of)| **of == flow)
    {
        count[event as usize] += 1;
    }
    count
}

#[test]
fn recovery_events_match_and_a_timeout_is_no_recovery() {
    // Losses are rare enough to be repaired one by one, and an outage of two seconds ends in timeouts.
    let steps = vec![(0, 8_000_000), (4 * SECOND, 0), (6 * SECOND, 8_000_000)];
    let rate = RatePlan::Steps(StepsConfig { steps, repeat_after_ns: None });
    let links =
        vec![LinkPlan { loss: 0.002, ..link("there", rate, 20.0) }, link("back", RatePlan::Unlimited, 20.0)];
    let mut plan = plan(20, links, vec![flow("f", cubic())]);
    plan.record.qlog = true;
    let (outcome, logs) = logs(&plan, 3);
    let [losses, timeouts, _, _, left] = signals(&outcome, 0);
    assert!(losses > 3 && timeouts > 0 && left > 3, "{losses} {timeouts} {left}");
    let events = events(&logs[0]);
    let states = named(&events, "recovery:congestion_state_updated");
    let begun = states.iter().filter(|state| state["new"] == "recovery").count();
    assert!(begun > 3 && begun <= losses, "{begun} of {losses}");
    assert!(states.iter().filter(|state| state["new"] == "recovery").all(|state| state["trigger"] == "loss"));
    let timed_out: Vec<_> = states.iter().filter(|state| state["trigger"] == "timeout").collect();
    assert!(
        !timed_out.is_empty() && timed_out.iter().all(|state| state["new"] == "slow_start"),
        "{states:?}"
    );
    // Nothing else ends a recovery: the phase in rows during a recovery is not a new state.
    let ended = states.iter().filter(|state| state["old"] == "recovery").count();
    assert!(ended <= left + timeouts && ended + 1 >= begun, "{ended} of {left}");
    assert!(states.iter().all(|state| state["trigger"] != "spurious_loss"));
    // Long after the last loss the log contains the state of the sender.
    let last = |name: &str| events.iter().rfind(|event| event["name"] == name).unwrap();
    let series = outcome.flow_series.table();
    let open = last("recovery:congestion_state_updated")["data"]["new"] != "recovery";
    let recent = last("recovery:packet_lost")["time"].as_f64().unwrap() > 19_500.0;
    assert!(open || recent, "{} rows", series.integers("flow").len());
}

#[test]
fn the_log_contains_estimators_links_and_routers_and_flows_without_a_controller_have_none() {
    let links = round_trip_links(LinkPlan { queue: abc_router(), ..link("there", mbps(8), 20.0) }, 20.0);
    let noise = TrafficPlan::ConstantBitRate {
        bps: 100_000,
        packet_bytes: 1000,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    let mut plan = plan(2, links, vec![flow("f", newreno()), datagrams("noise", noise)]);
    plan.record.qlog = true;
    let filtered =
        AckRateConfig::Filtered { sampler: SamplerConfig::DeliveryRate, filter: FilterConfig::None };
    plan.estimators = vec![EstimatorPlan { name: "delivery-rate".to_owned(), estimator: filtered.into() }];
    plan.flows[0].estimators = vec![0];
    let (_, logs) = logs(&plan, 1);
    assert_eq!(logs.iter().map(|log| log.flow).collect::<Vec<_>>(), [0]);
    let events = events(&logs[0]);
    let estimates = named(&events, "airpath:bandwidth_estimated");
    assert!(estimates.iter().all(|data| data["estimator"] == "delivery-rate") && estimates.len() > 10);
    let last = estimates[estimates.len() - 1]["estimate_bps"].as_f64().unwrap();
    assert!((last / 8e6 * 1500.0 / 1460.0 - 1.0).abs() < 0.05, "{last}");
    let link = named(&events, "airpath:link_updated");
    assert!(link.iter().all(|data| data["link"] == "there"));
    assert!(link.iter().any(|data| data["queue_bytes"].as_u64().unwrap() > 0));
    let router = named(&events, "airpath:router_observed");
    let fractions: Vec<f64> = router
        .iter()
        .filter(|data| data["quantity"] == "accelerate_fraction" && data["link"] == "there")
        .map(|data| data["value"].as_f64().unwrap())
        .collect();
    assert!(fractions.len() >= 20 && fractions.iter().all(|value| (0.0..=1.0).contains(value)));
}
