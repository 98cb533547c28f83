//! Plans from corrupted input: plans that caused a panic or an endless run are rejected.

use crate::common::*;
use airpath_sim::Simulation;
use airpath_sim::plan::*;

fn refused(flows: Vec<FlowPlan>, queue: QueuePlan, said: &str) {
    let links = round_trip_links(LinkPlan { queue, ..link("there", mbps(10), 1.0) }, 1.0);
    let problem = Simulation::new(&plan(1, links, flows), &[], 1).expect_err(said).to_string();
    assert!(problem.contains(said), "{problem}");
}

#[test]
fn oversized_segments_are_rejected() {
    let transport = TransportPlan { mss_bytes: u64::MAX, ..transport() };
    let source = FlowPlan { transport: Some(transport), ..flow("a", cubic()) };
    refused(vec![source], packets(10), "flow a: transport.mss: accepted: packets from 1 byte to 16 MB");
}

#[test]
fn empty_segments_are_rejected() {
    for stack in [StackPlan::Rfc, StackPlan::Linux] {
        let transport = TransportPlan { mss_bytes: 0, stack, ..transport() };
        let source = FlowPlan { transport: Some(transport), ..flow("a", cubic()) };
        refused(vec![source], packets(10), "flow a: transport.mss: found 0; accepted: at least one byte");
    }
}

#[test]
fn datagrams_less_than_a_nanosecond_apart_are_rejected() {
    let too_close = "flow a: traffic.rate: at that rate its packets are less than a nanosecond apart";
    for bps in [512_000_000_001, u64::MAX] {
        let constant = TrafficPlan::ConstantBitRate {
            bps,
            packet_bytes: 64,
            on_ns: None,
            off_ns: None,
            start_off: false,
        };
        refused(vec![datagrams("a", constant)], packets(10), too_close);
        let poisson = TrafficPlan::PoissonDatagrams { bps, packet_bytes: Draw::Constant { value: 64.0 } };
        refused(vec![datagrams("a", poisson)], packets(10), too_close);
    }
    let nothing = TrafficPlan::PoissonDatagrams { bps: 1000, packet_bytes: Draw::Constant { value: 0.0 } };
    refused(vec![datagrams("a", nothing)], packets(10), too_close);
    let huge =
        TrafficPlan::PoissonDatagrams { bps: 1000, packet_bytes: Draw::Uniform { low: 1.0, high: 5e9 } };
    refused(
        vec![datagrams("a", huge)],
        packets(10),
        "flow a: traffic.packet: accepted: from 1 byte to 16 MB",
    );
}

#[test]
fn writes_without_time_between_them_are_rejected() {
    for interval_ns in [Draw::Constant { value: 0.0 }, Draw::Uniform { low: 0.0, high: 1e9 }] {
        let traffic = TrafficPlan::Writes { bytes: Draw::Constant { value: 1e3 }, interval_ns };
        refused(
            vec![FlowPlan { traffic, ..flow("a", newreno()) }],
            packets(10),
            "flow a: traffic.interval: accepted: always more than 0 s",
        );
    }
}

#[test]
fn queue_timers_every_nanosecond_are_rejected() {
    let router =
        |protocol, source| QueuePlan::Router { limit_bytes: None, limit_packets: Some(10), protocol, source };
    let configured = SourcePlan::named("configured").with("capacity", 10_000_000);
    let queue = router(xcp_protocol([1, 1000]), configured);
    refused(
        vec![flow("a", cubic())],
        queue,
        "link there: queue.protocol.min_interval: found 0.000000001; accepted: at least a microsecond",
    );
    let text = r#"{"kind": "ebe", "profile": "icc", "sampled_queue": "mean", "monitor": "plain", "maintainer": "latch",
        "spare_arrivals": "protocol", "threshold": 0.15, "upsilon": 1.4, "capacity": 10000000, "min_capacity": 41600,
        "max_capacity": 8320000000000, "unit": "bytes", "packet": 1040, "measurement_interval": 1, "estimation_interval": 200000000}"#;
    let queue = router(xcp_protocol([1_000_000, 1_000_000_000]), serde_json::from_str(text).unwrap());
    refused(
        vec![flow("a", cubic())],
        queue,
        "link there: queue.source.measurement_interval: found 0.000000001; accepted: at least a microsecond",
    );
}

/// Such a run would never end, and would accumulate packets.
#[test]
fn a_loop_without_delay_is_rejected() {
    let instantly = |delay_ms, back_ms| {
        let links = round_trip_links(link("there", RatePlan::Unlimited, delay_ms), back_ms);
        let transport = TransportPlan { receive_window_bytes: 1 << 20, ..transport() };
        let source = FlowPlan { transport: Some(transport), ..flow("a", cubic()) };
        Simulation::new(&plan(1, links, vec![source]), &[], 1).map(drop)
    };
    let problem = instantly(0.0, 0.0).expect_err("it takes no time").to_string();
    assert!(problem.starts_with("flow a: its packets and their answers take no time"), "{problem}");
    assert_eq!((instantly(0.0, 1.0), instantly(1.0, 0.0)), (Ok(()), Ok(())));
}

#[test]
fn plans_of_another_format_are_rejected() {
    let refused = |text: &str| Plan::from_json(text).unwrap_err().to_string();
    assert_eq!(refused(r#"{"format": 1, "links": 7}"#), "format of the plan: found 1; accepted: 2");
    assert_eq!(refused(r#"{"format": "2"}"#), "format of the plan: found \"2\"; accepted: 2");
    assert_eq!(
        refused(r#"{"duration_ns": 1}"#),
        "format of the plan: found none, as in version 1; accepted: 2"
    );
    assert!(refused(r#"{"format": 2}"#).starts_with("not a plan: missing field `duration_ns`"));
    assert!(refused("[").starts_with("not a plan: "));
}
