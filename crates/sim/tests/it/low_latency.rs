//! Scalable senders over `DualPI2`: the delay and the sharing with classic senders that RFC 9332 specifies.

use crate::common::*;
use airpath_sim::Outcome;
use airpath_sim::plan::*;

fn dual_pi2() -> QueuePlan {
    QueuePlan::Managed {
        limit_bytes: None,
        limit_packets: Some(10_000),
        management: crate::common::dual_pi2(),
    }
}

/// Returns a flow of Prague, over accurate ECN and paced, as its scheme requires.
fn scalable(name: &str) -> FlowPlan {
    let transport = TransportPlan { ecn: true, accurate_ecn: true, pacing: true, ..transport() };
    FlowPlan { transport: Some(transport), ..flow(name, prague()) }
}

fn classic(name: &str) -> FlowPlan {
    let transport = TransportPlan { ecn: true, ..transport() };
    FlowPlan { transport: Some(transport), ..flow(name, cubic()) }
}

/// Runs flows over 40 Mbit/s for 60 s, measured from 20 to 60 s, with this round trip.
fn over(rtt_ms: f64, flows: Vec<FlowPlan>) -> Outcome {
    let forward = LinkPlan { queue: dual_pi2(), ..link("bottleneck", mbps(40), rtt_ms / 2.0) };
    let mut plan = plan(60, round_trip_links(forward, rtt_ms / 2.0), flows);
    plan.record.measure_from_ns = 20 * SECOND;
    run(&plan, 1)
}

fn rates(outcome: &Outcome) -> Vec<f64> {
    table(outcome, "flows")
        .integers("departed_bytes")
        .iter()
        .map(|&bytes| bytes as f64 * 8.0 / 40e6)
        .collect()
}

/// Returns the mean queueing delay of a flow, in milliseconds.
fn queueing_ms(outcome: &Outcome, flow: usize) -> f64 {
    table(outcome, "flows").reals("queueing_mean_s")[flow] * 1e3
}

#[test]
fn a_scalable_flow_fills_the_link_with_less_than_a_millisecond_of_queue() {
    for rtt_ms in [10.0, 20.0, 40.0, 80.0] {
        let outcome = over(rtt_ms, vec![scalable("l")]);
        let (rate, wait) = (rates(&outcome)[0], queueing_ms(&outcome, 0));
        assert!(rate > 39.5 && wait < 1.0, "{rtt_ms} ms: {rate} Mbit/s, {wait} ms");
        assert_eq!(table(&outcome, "drops").integers("link").len(), 0);
    }
}

/// RFC 9332, section 1: low latency for one class, and neither starves the other. The classic queue adds its
/// delay to the round trip of the classic flow.
#[test]
fn scalable_and_classic_flows_share_and_only_the_classic_flow_waits() {
    for rtt_ms in [10.0, 20.0, 40.0, 80.0] {
        let outcome = over(rtt_ms, vec![scalable("l"), classic("c")]);
        let rates = rates(&outcome);
        let [low, usual] = [0, 1].map(|flow| queueing_ms(&outcome, flow));
        assert!(low < 0.5 && (5.0..20.0).contains(&usual), "{rtt_ms} ms: {low} and {usual} ms");
        assert!(rates[0] + rates[1] > 39.3, "{rtt_ms} ms: {rates:?}");
        assert!((1.0..2.5).contains(&(rates[0] / rates[1])), "{rtt_ms} ms: {rates:?}");
    }
}

#[test]
fn scalable_flows_share_equally() {
    let flows = (0..4).map(|number| scalable(&format!("l{number}"))).collect();
    let rates = rates(&over(30.0, flows));
    assert!(rates.iter().all(|rate| (8.0..12.0).contains(rate)), "{rates:?}");
}

/// A round trip of 5 ms competes with one of 50 ms: with the virtual round trip of 25 ms, both grow and fall
/// nearly as often.
#[test]
fn a_short_round_trip_gains_little() {
    let shares = |virtual_rtt_ns: u64| {
        let controller =
            ControllerPlan::Declared(ComponentPlan::named("prague").with("virtual_rtt", virtual_rtt_ns));
        let with = |name: &str, path, reverse_path| FlowPlan {
            controller: Some(controller.clone()),
            path,
            reverse_path,
            ..scalable(name)
        };
        let links = vec![
            LinkPlan { queue: dual_pi2(), ..link("bottleneck", mbps(40), 2.0) },
            link("near", RatePlan::Unlimited, 3.0),
            link("far", RatePlan::Unlimited, 48.0),
        ];
        let flows = vec![with("short", vec![0], vec![1]), with("long", vec![0], vec![2])];
        let mut plan = plan(60, links, flows);
        plan.record.measure_from_ns = 20 * SECOND;
        let rates = rates(&run(&plan, 1));
        rates[0] / rates[1]
    };
    let (with, without) = (shares(25 * MILLISECOND), shares(MILLISECOND));
    assert!(with < 2.5, "{with} times as much");
    assert!(without > 2.0 * with, "{without} times as much without");
}
