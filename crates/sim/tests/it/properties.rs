//! Properties of random scenarios: packets are conserved, and a run is a function of plan and seed.

use std::sync::Arc;

use crate::common::*;
use airpath_sim::plan::*;
use airpath_sim::{Cancelled, Column, Counts, Input, Outcome, RunControl, Simulation, Table};
use airpath_trace::{ReadOptions, read};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sent_packets_are_delivered_dropped_or_inside(plan in any_plan(), seed in any::<u64>()) {
        let outcome = run_with_trace(&plan, seed);
        let counts = outcome.counts;
        let dropped = table(&outcome, "drops").integers("link").len() as u64;
        prop_assert_eq!(
            counts.packets_sent,
            counts.packets_received + dropped + counts.packets_inside,
            "over the whole network"
        );

        let (links, series) = (table(&outcome, "links"), table(&outcome, "link_series"));
        let count = plan.links.len();
        let waiting = series.integers("queue_packets");
        for link in 0..count {
            let waiting = waiting[waiting.len() - count + link];
            let inside = links.integers("arrived_packets")[link]
                - links.integers("dropped_packets_overflow")[link]
                - links.integers("dropped_packets_early")[link]
                - links.integers("departed_packets")[link]
                - waiting;
            // With ARQ also those that wait for retransmission.
            let most = if plan.links[link].arq.is_some() { i64::MAX } else { 1 };
            prop_assert!((0..=most).contains(&inside), "link {}: {} packets being sent", link, inside);
            let corrupted = links.integers("dropped_packets_corruption")[link];
            prop_assert!(corrupted <= links.integers("departed_packets")[link]);
        }

        let flows = table(&outcome, "flows");
        for (flow, &received) in flows.integers("delivered_packets").iter().enumerate() {
            let (sent, lost) = (flows.integers("sent_packets")[flow], flows.integers("lost_packets")[flow]);
            prop_assert!(received + lost <= sent, "flow {}: {} + {} of {}", flow, received, lost, sent);
        }
    }

    #[test]
    fn limits_of_queues_and_links_hold(plan in any_plan(), seed in any::<u64>()) {
        let outcome = run_with_trace(&plan, seed);
        let links = table(&outcome, "links");
        for (index, link) in plan.links.iter().enumerate() {
            let (limit_bytes, limit_packets) = link.queue.limits();
            if let Some(limit) = limit_packets {
                prop_assert!(links.integers("queue_max_packets")[index] as u64 <= limit);
            }
            if let Some(limit) = limit_bytes {
                prop_assert!(links.integers("queue_max_bytes")[index] as u64 <= limit);
            }
            let (offered, departed) = (links.reals("offered_bytes")[index], links.integers("departed_bytes")[index]);
            // A packet that spans several delivery opportunities is counted when its last byte is sent.
            prop_assert!(offered.is_nan() || departed as f64 <= offered + 1500.0, "{departed} of {offered}");
        }
    }

    #[test]
    fn the_same_plan_and_seed_give_the_same_tables_on_any_thread(plan in any_plan(), seed in any::<u64>()) {
        let here = run_with_trace(&plan, seed);
        let elsewhere = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| run_with_trace(&plan, seed))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
        });
        for other in elsewhere {
            prop_assert!(same(&here, &other));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Links without counters use a fast path, captured links process each packet at its own instant, and
    /// other links know future arrivals. The flows have the same results.
    #[test]
    fn recording_changes_nothing(
        plan in prop_oneof![any_plan(), crowded_plan()],
        unrecorded in any::<u64>(),
        seed in any::<u64>(),
    ) {
        let mut plan = plan;
        plan.record.capture = vec![];
        let mut captured = plan.clone();
        captured.record.capture = (0..plan.links.len()).collect();
        captured.record.flow_limits = true;
        let hops = plan.links.len() / 2;
        for (index, link) in plan.links.iter_mut().enumerate() {
            link.record = (unrecorded >> (index % hops % 64)).is_multiple_of(2);
        }
        let (one, other) = (run_with_trace(&plan, seed), run_with_trace(&captured, seed));
        let inside = |outcome: &Outcome| Counts { events: 0, ..outcome.counts };
        prop_assert_eq!(inside(&one), inside(&other));
        // Quantities are numbered as they appear, at links too.
        let of_flows = |name: &str| {
            !name.starts_with("link") && !["flow_observations", "flow_limits"].contains(&name)
        };
        for one in one.tables.iter().filter(|table| of_flows(table.name)) {
            let other = table(&other, one.name);
            for ((name, column), (_, other)) in one.columns.iter().zip(&other.columns) {
                prop_assert_eq!(format!("{:?}", column), format!("{:?}", other), "{} of {}", name, one.name);
            }
        }
        let of_links = |outcome: &Outcome, name| of_links(table(outcome, name), &plan);
        for name in ["links", "link_series"] {
            prop_assert_eq!(of_links(&one, name), of_links(&other, name), "{}", name);
        }
    }

    /// Rows for lost packets do not change anything else either.
    #[test]
    fn without_rows_of_lost_packets_all_other_rows_are_equal(plan in any_plan(), seed in any::<u64>()) {
        let mut without = plan.clone();
        without.record.drops = false;
        let (one, other) = (run_with_trace(&plan, seed), run_with_trace(&without, seed));
        prop_assert_eq!(one.counts, other.counts);
        prop_assert_eq!(table(&other, "drops").integers("link").len(), 0);
        for (one, other) in one.tables.iter().zip(&other.tables).filter(|(one, _)| one.name != "drops") {
            prop_assert_eq!(format!("{:?}", one), format!("{:?}", other));
        }
    }
}

/// Returns the rows of the recorded links, as text.
fn of_links(table: &Table, plan: &Plan) -> Vec<String> {
    let row = |row: usize| {
        let value = |column: &Column| match column {
            Column::I64(values) => values[row].to_string(),
            Column::F64(values) => values[row].to_string(),
        };
        table.columns.iter().map(|(_, column)| value(column)).collect::<Vec<_>>().join(" ")
    };
    let links = table.integers("link").iter().enumerate();
    links.filter(|(_, link)| plan.links[**link as usize].record).map(|(index, _)| row(index)).collect()
}

#[test]
fn another_seed_changes_only_random_quantities() {
    let mut lossy = link("bottleneck", mbps(10), 20.0);
    lossy.loss = 0.01;
    let plan = plan(10, round_trip_links(lossy, 20.0), vec![flow("a", newreno())]);
    assert!(!same(&run(&plan, 1), &run(&plan, 2)));

    let mut certain = plan;
    certain.links[0].loss = 0.0;
    assert!(same(&run(&certain, 1), &run(&certain, 2)));
}

#[test]
fn changing_one_component_keeps_the_random_samples_of_the_others() {
    let uniform = |high| {
        RatePlan::Uniform(UniformConfig {
            low_bps: 1_000_000,
            high_bps: high,
            hold_ns: SECOND,
            initial_bps: None,
            stream: None,
        })
    };
    let plan_with = |controller: ControllerPlan| {
        let mut first = flow("first", controller);
        first.start_ns = Draw::Uniform { low: 0.0, high: 1e9 };
        let mut second = flow("second", newreno());
        second.start_ns = Draw::Uniform { low: 0.0, high: 1e9 };
        plan(10, round_trip_links(link("bottleneck", uniform(20_000_000), 20.0), 20.0), vec![first, second])
    };
    let (one, other) = (run(&plan_with(newreno()), 5), run(&plan_with(cubic()), 5));
    assert!(!same(&one, &other));
    assert_eq!(table(&one, "flows").reals("start_s"), table(&other, "flows").reals("start_s"));
    let offered = |outcome| {
        let series = table(outcome, "link_series");
        let bottleneck = series.integers("link").iter().zip(series.reals("offered_bytes"));
        bottleneck.filter(|(link, _)| **link == 0).map(|(_, bytes)| *bytes).collect::<Vec<f64>>()
    };
    assert_eq!(offered(&one), offered(&other));
}

#[test]
fn a_cancelled_run_returns_nothing() {
    let plan =
        plan(100_000, round_trip_links(link("bottleneck", mbps(100), 1.0), 1.0), vec![flow("a", cubic())]);
    let simulation = Simulation::new(&plan, &[], 1).unwrap();
    let control = RunControl::default();
    control.cancel();
    assert_eq!(simulation.run(&control), Err(Cancelled));
}

#[test]
fn the_progress_of_a_run_is_reported() {
    let plan = plan(10, round_trip_links(link("bottleneck", mbps(10), 10.0), 10.0), vec![flow("a", cubic())]);
    let control = RunControl::default();
    assert_eq!(control.progress().to_bits(), 0.0_f64.to_bits());
    Simulation::new(&plan, &[], 1).unwrap().run(&control).unwrap();
    assert!((control.progress() - 1.0).abs() < 1e-9, "{}", control.progress());
}

/// Compares byte by byte: NaN equals NaN here.
fn same(one: &Outcome, other: &Outcome) -> bool {
    format!("{one:?}") == format!("{other:?}")
}

fn run_with_trace(plan: &Plan, seed: u64) -> Outcome {
    let trace = read(b"0\n3\n3\n7\n8\n8\n8\n40\n41\n60\n", &ReadOptions::default()).expect("a trace");
    let inputs = [Arc::new(Input::from(&trace))];
    let simulation = Simulation::new(plan, &inputs, seed).expect("a runnable plan");
    simulation.run(&RunControl::default()).expect("not cancelled")
}

/// Generates a chain of two to four links in each direction, and flows of every kind over parts of it.
fn any_plan() -> impl Strategy<Value = Plan> {
    let delay_ms = prop_oneof![1 => Just(0.0), 6 => 1.0..40.0_f64];
    let links = prop::collection::vec((any_rate(), delay_ms, any_queue(), any_damage(), any::<bool>()), 2..5);
    let flows = prop::collection::vec(
        (any_traffic(), any_controller(), any_recovery(), any::<(u8, u8, u8, bool)>()),
        1..6,
    );
    (links, flows, any::<bool>()).prop_map(|(links, flows, capture)| {
        let hops = links.len();
        let mut directed = Vec::new();
        for direction in ["forward", "back"] {
            for (hop, (rate, delay_ms, queue, (loss, arq), jitter)) in links.iter().enumerate() {
                // Over a loop without delay an unlimited flow would send forever.
                let least_ms = if *rate == RatePlan::Unlimited { 1.0 } else { 0.0 };
                let mut made = link(&format!("{direction}-{hop}"), rate.clone(), delay_ms.max(least_ms));
                made.queue = queue.clone();
                made.loss = *loss;
                made.arq.clone_from(arq);
                made.jitter_ns = jitter.then_some(Draw::Exponential { mean: 2e6 });
                directed.push(made);
            }
        }
        let flows = flows.into_iter().enumerate().map(
            |(index, (traffic, controller, recovery, (from, to, from_measured, ecn)))| {
                let (from, to) = (usize::from(from) % hops, usize::from(to) % hops);
                let (first, last) = (from.min(to), from.max(to));
                let path: Vec<usize> = (first..=last).collect();
                let reverse_path: Vec<usize> = (first..=last).rev().map(|hop| hops + hop).collect();
                let name = format!("flow-{index}");
                let datagram = matches!(
                    traffic,
                    TrafficPlan::ConstantBitRate { .. } | TrafficPlan::PoissonDatagrams { .. }
                );
                let mut made = if datagram {
                    datagrams(&name, traffic)
                } else {
                    FlowPlan { traffic, ..flow(&name, controller) }
                };
                if let Some(transport) = &mut made.transport {
                    transport.recovery = recovery;
                    transport.receive_window_bytes = 300_000; // otherwise nothing may limit a flow
                    transport.ecn = ecn;
                    transport.pacing = ecn;
                    transport.delayed_ack_segments = 1 + u32::from(ecn);
                }
                made.measured_at = path[usize::from(from_measured) % path.len()];
                made.path = path;
                made.reverse_path = reverse_path;
                made.start_ns = Draw::Uniform { low: 0.0, high: 5e8 };
                made.stop_ns = ecn.then_some(Draw::Constant { value: 4e9 });
                made
            },
        );
        let flows = flows.collect();
        let mut plan = plan(6, directed, flows);
        plan.record.packets = capture;
        plan.record.capture = if capture { vec![0, hops] } else { vec![] };
        plan
    })
}

/// Generates flows that share short buffers of links with one rate and start together: many drops at links
/// without counters, and many events at one instant. Some have no separate link before or after the shared
/// ones.
fn crowded_plan() -> impl Strategy<Value = Plan> {
    let access = (prop_oneof![Just(10_u64), Just(20), 1_u64..40], 1_u64..5, 0_u64..3);
    let flows =
        prop::collection::vec((any_controller(), 1_u64..12, any::<(bool, u8, [[bool; 2]; 2])>()), 1..6);
    (access, 1_u64..30, flows).prop_map(|((rate, delay, middle), buffer, flows)| {
        let side = |name: String, rate: u64, buffer: u64| {
            let queue = if buffer.is_multiple_of(3) { packets(500) } else { packets(buffer) };
            LinkPlan { queue, ..link(&name, mbps(rate), delay as f64) }
        };
        let paths = flows.len();
        let mut links = Vec::new();
        for direction in ["forward", "back"] {
            for (index, (_, buffer, _)) in flows.iter().enumerate() {
                links.push(side(format!("up-{direction}-{index}"), 2 * rate, *buffer));
                links.push(side(format!("down-{direction}-{index}"), rate, *buffer));
            }
            for hop in 0..=middle {
                links.push(side(format!("middle-{direction}-{hop}"), rate, buffer));
            }
        }
        let half = links.len() / 2;
        let path = |from: usize, index: usize| {
            let middle = (0..=middle as usize).map(|hop| from + 2 * paths + hop);
            let mut path = vec![from + 2 * index];
            path.extend(middle);
            path.push(from + 2 * index + 1);
            path
        };
        let flows =
            flows.iter().enumerate().map(|(index, (controller, files, (starts_later, measured, joined)))| {
                let mut made = flow(&format!("flow-{index}"), controller.clone());
                (made.path, made.reverse_path) = (path(0, index), path(half, index));
                for (way, [joins, leaves]) in
                    [(&mut made.path, joined[0]), (&mut made.reverse_path, joined[1])]
                {
                    if joins {
                        way.remove(0);
                    }
                    if leaves {
                        way.pop();
                    }
                }
                made.measured_at = made.path[usize::from(*measured) % made.path.len()];
                made.start_ns = Draw::Constant { value: if *starts_later { 1e6 } else { 0.0 } };
                if files % 2 == 0 {
                    let bytes = Draw::Exponential { mean: 30_000.0 * *files as f64 };
                    made.traffic = TrafficPlan::Repeated { bytes, pause_ns: Draw::Constant { value: 1e6 } };
                }
                made
            });
        let flows = flows.collect();
        plan(3, links, flows)
    })
}

fn any_rate() -> impl Strategy<Value = RatePlan> {
    prop_oneof![
        Just(RatePlan::Unlimited),
        (200_000_u64..20_000_000).prop_map(|bps| RatePlan::Constant(ConstantConfig { bps })),
        (0_u64..10_000_000, 100_000_u64..10_000_000).prop_map(|(one, other)| RatePlan::Steps(StepsConfig {
            steps: vec![(0, one), (700 * MILLISECOND, other)],
            repeat_after_ns: Some(SECOND),
        })),
        Just(RatePlan::Uniform(UniformConfig {
            low_bps: 100_000,
            high_bps: 9_000_000,
            hold_ns: 300 * MILLISECOND,
            initial_bps: Some(1_000_000),
            stream: None,
        })),
        Just(RatePlan::Opportunities(OpportunitiesConfig { trace: 0, once: false })),
    ]
}

fn any_queue() -> impl Strategy<Value = QueuePlan> {
    prop_oneof![
        Just(QueuePlan::DropTail { limit_bytes: None, limit_packets: None }),
        (1_u64..60).prop_map(packets),
        (1_500_u64..90_000)
            .prop_map(|bytes| QueuePlan::DropTail { limit_bytes: Some(bytes), limit_packets: None }),
        (any_management(), 1_u64..60).prop_map(|(management, packets)| QueuePlan::Managed {
            limit_bytes: None,
            limit_packets: Some(packets),
            management,
        }),
    ]
}

/// Generates queue management that acts within a few packets.
fn any_management() -> impl Strategy<Value = ManagementPlan> {
    prop_oneof![
        any::<bool>().prop_map(|ecn| ManagementPlan::named("red")
            .with("unit", "packets")
            .with("minimum", 1.0)
            .with("maximum", 5.0)
            .with("max_probability", 0.5)
            .with("weight", 0.2)
            .with("gentle", true)
            .with("wait", ecn)
            .with("adaptive", ecn)
            .with("ecn", ecn)
            .with("mark_limit", 0.5)
            .with("packet", 1500)
            .with("capacity", 12_000_000)),
        Just(
            ManagementPlan::named("rem")
                .with("unit", "bytes")
                .with("capacity", 1_000_000)
                .with("interval", 5 * MILLISECOND)
                .with("gamma", 0.1)
                .with("alpha", 0.1)
                .with("phi", 1.1)
                .with("target", 3.0)
                .with("packet", 1500)
        ),
        any::<bool>().prop_map(|ecn| ManagementPlan::named("avq")
            .with("capacity", 2_000_000)
            .with("alpha", 0.15)
            .with("gamma", 0.98)
            .with("initial_share", 0.8)
            .with("ecn", ecn)),
        any::<bool>().prop_map(|ecn| ManagementPlan::named("codel")
            .with("target", MILLISECOND)
            .with("interval", 10 * MILLISECOND)
            .with("packet", 100)
            .with("ecn", ecn)),
        any::<bool>().prop_map(|ecn| ManagementPlan::named("fq-codel")
            .with("target", MILLISECOND)
            .with("interval", 10 * MILLISECOND)
            .with("packet", 100)
            .with("ecn", ecn)
            .with("quantum", 700)
            .with("queues", 3)),
        any::<bool>().prop_map(|ecn| ManagementPlan::named("pie")
            .with("target", MILLISECOND)
            .with("update_interval", 5 * MILLISECOND)
            .with("alpha", 1.0)
            .with("beta", 10.0)
            .with("max_burst", 10 * MILLISECOND)
            .with("delay", if ecn { "timestamps" } else { "departure-rate" })
            .with("derandomise", ecn)
            .with("ecn", ecn)
            .with("mark_limit", 0.3)
            .with("packet", 100)),
        Just(
            ManagementPlan::named("dual-pi2")
                .with("target", MILLISECOND)
                .with("update_interval", 5 * MILLISECOND)
                .with("alpha", 1.0)
                .with("beta", 10.0)
                .with("coupling", 2.0)
                .with("step", MILLISECOND)
                .with("classic_share", 0.1)
                .with("packet", 100)
        ),
        Just(ManagementPlan::named("drr").with("quantum", 700).with("queues", 2)),
        Just(ManagementPlan::named("policer").with("rate", 2_000_000).with("burst", 9000)),
    ]
}

fn any_damage() -> impl Strategy<Value = (f64, Option<ArqPlan>)> {
    let arq = (0_u8..5, 0_u64..30 * MILLISECOND, any::<bool>());
    let arq = arq.prop_map(|(retries, delay_ns, in_order)| {
        ArqPlan::named("selective-repeat")
            .with("retries", retries)
            .with("delay", delay_ns)
            .with("in_order", in_order)
    });
    (prop_oneof![Just(0.0), 0.0..0.2_f64], prop::option::of(arq))
}

fn any_traffic() -> impl Strategy<Value = TrafficPlan> {
    let size = Draw::Exponential { mean: 30_000.0 };
    prop_oneof![
        Just(TrafficPlan::Bulk),
        (1_u64..400_000).prop_map(|bytes| TrafficPlan::File { bytes }),
        Just(TrafficPlan::Repeated { bytes: size, pause_ns: Draw::Uniform { low: 0.0, high: 2e8 } }),
        Just(TrafficPlan::Writes { bytes: size, interval_ns: Draw::Exponential { mean: 1e8 } }),
        Just(TrafficPlan::Arrivals { bytes: size, mean_interval_ns: 3e8 }),
        Just(TrafficPlan::ConstantBitRate {
            bps: 700_000,
            packet_bytes: 500,
            on_ns: Some(Draw::Constant { value: 3e8 }),
            off_ns: Some(Draw::Exponential { mean: 2e8 }),
            start_off: true,
        }),
        Just(TrafficPlan::PoissonDatagrams {
            bps: 900_000,
            packet_bytes: Draw::Uniform { low: 40.0, high: 1500.0 }
        }),
    ]
}

fn any_controller() -> impl Strategy<Value = ControllerPlan> {
    prop_oneof![
        Just(newreno()),
        Just(cubic()),
        Just(cubic_2008()),
        (1_460_u64..200_000).prop_map(fixed),
        Just(fixed_and_paced()),
    ]
}

fn any_recovery() -> impl Strategy<Value = RecoveryPlan> {
    prop_oneof![Just(RecoveryPlan::Prr), Just(RecoveryPlan::Sack), Just(RecoveryPlan::Newreno)]
}
