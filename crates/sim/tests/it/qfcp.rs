//! QFCP as a whole: its router and its senders over one link.

use crate::common::*;
use airpath_sim::plan::*;

/// Returns a plan with flows over 10 Mbit/s and 80 ms; flow i starts at `i` seconds; measured from 10 to 40
/// s.
fn scenario(flows: u64) -> Plan {
    let queue = QueuePlan::Router {
        limit_bytes: Some(575_000),
        limit_packets: None,
        protocol: ProtocolPlan::named("qfcp"),
        source: SourcePlan::named("configured").with("capacity", 10_000_000),
    };
    let links = round_trip_links(LinkPlan { queue, ..link("bottleneck", mbps(10), 40.0) }, 40.0);
    let sources = (0..flows)
        .map(|index| FlowPlan {
            start_ns: Draw::Constant { value: index as f64 * SECOND as f64 },
            ..flow(&format!("f{index}"), ControllerPlan::Declared(ComponentPlan::named("qfcp")))
        })
        .collect();
    let mut plan = plan(40, links, sources);
    plan.record.measure_from_ns = 10 * SECOND;
    plan
}

#[test]
fn flows_share_the_link_equally_and_fill_it_without_losses() {
    for flows in [1, 2, 8] {
        let outcome = run(&scenario(flows), 1);
        let goodput: Vec<f64> = table(&outcome, "flows")
            .integers("goodput_bytes")
            .iter()
            .map(|&bytes| bytes as f64 * 8.0 / 30e6)
            .collect();
        let total: f64 = goodput.iter().sum();
        // 1460 of 1500 bytes are payload; the link may be idle for 2 % of the time due to gaps between paced
        // packets.
        let most = 10.0 * 1460.0 / 1500.0;
        assert!((0.98 * most..=most).contains(&total), "{flows} flows: {total} of {most} Mbit/s");
        let mean = total / flows as f64;
        assert!(goodput.iter().all(|own| (own / mean - 1.0).abs() < 0.01), "{goodput:?}");
        assert_eq!(table(&outcome, "links").integers("dropped_packets_total")[0], 0);
    }
}

/// Each flow is assigned the whole capacity until the router has counted the flows; the resulting losses must
/// not silence all flows, or they are counted as one again. This occurred in the first 20 s with 100 flows.
#[test]
fn many_flows_at_once_fill_the_link() {
    let mut plan = scenario(100);
    for (index, flow) in (0..).zip(&mut plan.flows) {
        flow.start_ns = Draw::Constant { value: f64::from(index) * 3.0 * MILLISECOND as f64 };
    }
    plan.duration_ns = 20 * SECOND;
    plan.record.measure_from_ns = 0;
    plan.record.interval_ns = 5 * SECOND;
    let outcome = run(&plan, 1);
    let departed = table(&outcome, "link_series").integers("departed_bytes");
    let links = table(&outcome, "link_series").integers("link");
    for (bytes, _) in departed.iter().zip(links).filter(|(_, link)| **link == 0) {
        let share = *bytes as f64 * 8.0 / 50e6;
        assert!(share > 0.9, "{share} of what the link carries in 5 s");
    }
}
