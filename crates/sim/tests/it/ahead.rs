//! Lookahead: endpoints of flows that receive packets ahead of time.

use crate::common::*;
use airpath_sim::Outcome;
use airpath_sim::plan::*;

/// Returns a plan with files that arrive at random, long flows and datagrams over a lossy bottleneck, with or
/// without separate side links of each flow.
fn mixed(with_side_links: bool) -> Plan {
    let controllers = [cubic_2008(), newreno(), cubic()];
    let arrivals = TrafficPlan::Arrivals { bytes: Draw::Exponential { mean: 30e3 }, mean_interval_ns: 3e8 };
    let mut plan = peer_dumbbell(3, &controllers[0], RecoveryPlan::Sack);
    plan.duration_ns = 20 * SECOND;
    plan.record.measure_from_ns = 5 * SECOND;
    plan.record.flow_limits = true;
    plan.links[0].loss = 0.001;
    for (flow, controller) in plan.flows.iter_mut().zip(controllers) {
        flow.controller = Some(controller);
    }
    plan.flows[1].traffic = arrivals;
    plan.flows[1].path = vec![0];
    plan.flows[1].reverse_path = vec![1];
    if !with_side_links {
        for flow in &mut plan.flows {
            (flow.path, flow.reverse_path) = (vec![0], vec![1]);
        }
    }
    let datagrams = TrafficPlan::ConstantBitRate {
        bps: 1_000_000,
        packet_bytes: 1000,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    plan.flows.push(crate::common::datagrams("udp", datagrams));
    plan
}

fn texts(outcome: &Outcome) -> Vec<String> {
    let tables = outcome.tables.iter().filter(|table| table.name != "packets");
    tables.chain([&outcome.flow_series.table()]).map(|table| format!("{table:?}")).collect()
}

/// If each packet has a row, endpoints receive each packet at its own time, because rows are written in time
/// order. All other tables are equal, and hardly any events remain if packets have no rows.
#[test]
fn lookahead_changes_only_the_number_of_events() {
    for with_side_links in [true, false] {
        let ahead = mixed(with_side_links);
        let mut in_time = ahead.clone();
        in_time.record.packets = true;
        let (ahead, in_time) = (run(&ahead, 7), run(&in_time, 7));
        assert_eq!(texts(&ahead), texts(&in_time));
        assert!(table(&in_time, "packets").reals("received_s").is_sorted(), "samples are in time order");
        let hops = ahead.counts.packet_hops;
        assert!(in_time.counts.events > hops / 4, "{} of {hops}", in_time.counts.events);
        assert!(ahead.counts.events < hops / 10, "{} of {hops}", ahead.counts.events);
    }
}

/// The same applies if each sample of an estimator has a row.
#[test]
fn samples_of_estimators_are_in_time_order() {
    let mut plan = mixed(true);
    plan.record.estimate_samples = true;
    let estimator = AckRateConfig::WestwoodPlus { ticks_per_second: 1000 };
    plan.estimators = vec![EstimatorPlan { name: "westwood+".to_owned(), estimator: estimator.into() }];
    for flow in plan.flows.iter_mut().filter(|flow| flow.controller.is_some()) {
        flow.estimators = vec![0];
    }
    let outcome = run(&plan, 7);
    let samples = table(&outcome, "estimate_samples");
    assert!(samples.integers("flow").windows(2).filter(|pair| pair[0] != pair[1]).count() > 100);
    assert!(samples.reals("time_s").is_sorted());
}

/// A long flow receives its acknowledgments ahead of time, over a separate link without counters; files over
/// the same bottleneck start at the instants of their arrival. The order at the bottleneck is then that of
/// the requests: an acknowledgment's event is requested when the previous one arrives, even if that was
/// received ahead of time. Captured links process each packet at its own time.
#[test]
fn events_at_one_instant_keep_their_order() {
    let made = |(index, (rate, limit)): (usize, (u64, u64))| LinkPlan {
        record: false,
        queue: packets(limit),
        ..link(&format!("link-{index}"), mbps(rate), 2.0)
    };
    // Forward: a shared link, and another one for files. Reverse: one link per flow, a shared link, and another
    // one per flow.
    let links = [(20, 17), (20, 500), (40, 500), (40, 500), (20, 17), (20, 500), (20, 500)];
    let links: Vec<LinkPlan> = links.into_iter().enumerate().map(made).collect();
    let traffic = TrafficPlan::Repeated {
        bytes: Draw::Exponential { mean: 60_000.0 },
        pause_ns: Draw::Constant { value: 1e6 },
    };
    let paced = fixed_and_paced();
    let start_ns = Draw::Constant { value: 1e6 };
    let files =
        FlowPlan { traffic, start_ns, path: vec![0, 1], reverse_path: vec![2, 4, 5], ..flow("files", paced) };
    let long = FlowPlan { reverse_path: vec![3, 4, 6], ..flow("long", newreno()) };
    let ahead = plan(3, links, vec![files, long]);
    let mut in_time = ahead.clone();
    in_time.record.capture = (0..7).collect();
    for seed in 1..=20 {
        let (ahead, in_time) = (run(&ahead, seed), run(&in_time, seed));
        assert!(ahead.counts.events < in_time.counts.events, "seed {seed}");
        let flows = |outcome: &Outcome| format!("{:?}", outcome.flow_series.table());
        assert!(flows(&ahead) == flows(&in_time), "seed {seed}");
    }
}

/// A link hands packets over to a link without counters only if that never drops: not if it is slower, or if
/// small packets behind a large one find its buffer full.
#[test]
fn links_that_may_drop_receive_no_packets_in_advance() {
    let traffic = |bps, packet_bytes| TrafficPlan::ConstantBitRate {
        bps,
        packet_bytes,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    for (rate, limit) in [(10, 3), (20, 5), (19, 100)] {
        let second = LinkPlan { record: false, queue: packets(limit), ..link("second", mbps(rate), 2.0) };
        let links = vec![LinkPlan { queue: packets(50), ..link("first", mbps(20), 2.0) }, second];
        let on_both = |flow| FlowPlan { path: vec![0, 1], ..flow };
        let flows = vec![
            on_both(datagrams("large", traffic(14_000_000, 1400))),
            on_both(datagrams("small", traffic(5_900_000, 50))),
        ];
        let short_way = plan(3, links, flows);
        let mut captured = short_way.clone();
        captured.record.capture = vec![0, 1];
        let (short_way, captured) = (run(&short_way, 1), run(&captured, 1));
        let lost = table(&short_way, "drops").integers("link").iter().filter(|&&link| link == 1).count();
        assert!(lost > 100, "{rate} Mbit/s, {limit} packets: {lost}");
        for name in ["flows", "drops", "delay_histogram"] {
            let [one, other] = [&short_way, &captured].map(|of| format!("{:?}", table(of, name)));
            assert!(one == other, "{rate} Mbit/s, {limit} packets: {name}");
        }
    }
}
