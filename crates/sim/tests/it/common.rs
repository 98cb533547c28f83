//! Small plans for tests.
#![allow(dead_code, reason = "other crates, benches and examples use a part of it")]
#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

use airpath_sim::plan::*;
use airpath_sim::{Outcome, RunControl, Simulation, Table};

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const MILLISECOND: u64 = 1_000_000;

pub(crate) fn run(plan: &Plan, seed: u64) -> Outcome {
    Simulation::new(plan, &[], seed)
        .expect("a runnable plan")
        .run(&RunControl::default())
        .expect("not cancelled")
}

/// Runs `work` on each item in its own thread and returns the results in the order of the items. For the
/// slowest tests.
pub(crate) fn in_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(|| work(item))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the work does not panic")).collect()
    })
}

pub(crate) fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).expect("a table of that name")
}

pub(crate) fn plan(seconds: u64, links: Vec<LinkPlan>, flows: Vec<FlowPlan>) -> Plan {
    Plan {
        format: Plan::FORMAT,
        duration_ns: seconds * SECOND,
        record: RecordPlan {
            measure_from_ns: 0,
            interval_ns: 100 * MILLISECOND,
            packets: false,
            estimate_samples: false,
            drops: true,
            flow_limits: false,
            capture: vec![],
            qlog: false,
        },
        estimators: vec![],
        links,
        flows,
    }
}

pub(crate) fn link(name: &str, rate: RatePlan, delay_ms: f64) -> LinkPlan {
    LinkPlan {
        name: name.to_owned(),
        rate,
        delay_ns: Draw::Constant { value: delay_ms * MILLISECOND as f64 },
        jitter_ns: None,
        loss: 0.0,
        bursts: None,
        arq: None,
        queue: QueuePlan::DropTail { limit_bytes: None, limit_packets: None },
        record: true,
    }
}

pub(crate) fn packets(limit: u64) -> QueuePlan {
    QueuePlan::DropTail { limit_bytes: None, limit_packets: Some(limit) }
}

pub(crate) fn mbps(rate: u64) -> RatePlan {
    RatePlan::Constant(ConstantConfig { bps: rate * 1_000_000 })
}

/// Returns a path of two links, forward and reverse.
pub(crate) fn round_trip_links(forward: LinkPlan, delay_ms: f64) -> Vec<LinkPlan> {
    vec![forward, link("back", RatePlan::Unlimited, delay_ms)]
}

pub(crate) fn flow(name: &str, controller: ControllerPlan) -> FlowPlan {
    FlowPlan {
        name: name.to_owned(),
        path: vec![0],
        reverse_path: vec![1],
        measured_at: 0,
        start_ns: Draw::Constant { value: 0.0 },
        stop_ns: None,
        traffic: TrafficPlan::Bulk,
        controller: Some(controller),
        transport: Some(transport()),
        estimators: vec![],
    }
}

/// Returns the transport of ns-2: 1460 bytes in packets of 1500, 40-byte acknowledgments, no options on the
/// wire.
pub(crate) fn transport() -> TransportPlan {
    TransportPlan {
        mss_bytes: 1460,
        header_bytes: 40,
        ack_bytes: 40,
        initial_window_bytes: 14_600,
        receive_window_bytes: u64::MAX,
        recovery: RecoveryPlan::Prr,
        lost_retransmission_detection: true,
        loss_detection: airpath_sim::plan::LossDetectionPlan::Threshold,
        spurious_timeout_undo: true,
        timestamps: true,
        delayed_ack_segments: 1,
        delayed_ack_timeout_ns: 100 * MILLISECOND,
        min_rto_ns: 200 * MILLISECOND,
        rto_floor: RtoFloorPlan::Variance,
        max_rto_ns: 60 * SECOND,
        initial_rto_ns: SECOND,
        ecn: false,
        accurate_ecn: false,
        pacing: false,
        stack: airpath_sim::plan::StackPlan::Rfc,
        gso: true,
    }
}

/// Returns an ABC router with the true link rate and a buffer of 250 packets.
pub(crate) fn abc_router() -> QueuePlan {
    let protocol = ProtocolPlan::named("abc");
    let source = SourcePlan::named("oracle").with("averaging", 20 * MILLISECOND);
    QueuePlan::Router { limit_bytes: None, limit_packets: Some(250), protocol, source }
}

/// Returns XCP's router in the rate form, with control intervals between two bounds in nanoseconds.
pub(crate) fn xcp_protocol([shortest, longest]: [u64; 2]) -> ProtocolPlan {
    ProtocolPlan::named("xcp").with("min_interval", shortest).with("max_interval", longest)
}

pub(crate) fn newreno() -> ControllerPlan {
    ControllerPlan::Declared(ComponentPlan::named("newreno"))
}

pub(crate) fn cubic() -> ControllerPlan {
    ControllerPlan::Declared(ComponentPlan::named("cubic"))
}

pub(crate) fn cubic_2008() -> ControllerPlan {
    ControllerPlan::Declared(
        ComponentPlan::named("cubic").with("form", "2008").with("beta", 0.8).with("slow_start", "standard"),
    )
}

/// Returns `DualPI2` with Linux's defaults.
pub(crate) fn dual_pi2() -> ManagementPlan {
    ManagementPlan::named("dual-pi2")
        .with("target", 15 * MILLISECOND)
        .with("update_interval", 16 * MILLISECOND)
        .with("alpha", 0.16)
        .with("beta", 3.2)
        .with("coupling", 2.0)
        .with("step", MILLISECOND)
        .with("classic_share", 0.1)
        .with("packet", 1500)
}

pub(crate) fn prague() -> ControllerPlan {
    ControllerPlan::Declared(ComponentPlan::named("prague"))
}

pub(crate) fn fixed(window_bytes: u64) -> ControllerPlan {
    ControllerPlan::Declared(ComponentPlan::named("fixed").with("window", window_bytes))
}

/// Returns a controller with a window of 100 kB, paced at 3 Mbit/s.
pub(crate) fn fixed_and_paced() -> ControllerPlan {
    let fixed = ComponentPlan::named("fixed").with("window", 100_000).with("rate", 3_000_000);
    ControllerPlan::Declared(fixed)
}

pub(crate) fn datagrams(name: &str, traffic: TrafficPlan) -> FlowPlan {
    FlowPlan { traffic, controller: None, transport: None, reverse_path: vec![], ..flow(name, newreno()) }
}

/// Returns the transport of the peers' scenarios.
pub(crate) fn peer_transport(recovery: RecoveryPlan, delayed_ack_segments: u32) -> TransportPlan {
    TransportPlan { recovery, delayed_ack_segments, ..transport() }
}

/// Returns the dumbbell of the ns-2 and ns-3 measurements: 100 Mbit/s, 20 ms, buffer 500 packets, side links
/// of 1 Gbit/s and 5 ms, flow i starts at i/N seconds, 60 s measured from 10 to 60 s.
pub(crate) fn peer_dumbbell(flows: u64, controller: &ControllerPlan, recovery: RecoveryPlan) -> Plan {
    let bottleneck = LinkPlan { queue: packets(500), ..link("bottleneck", mbps(100), 20.0) };
    let side = LinkPlan { queue: packets(10_000), record: false, ..link("side", mbps(1000), 5.0) };
    let mut plan = dumbbell(60, flows, &bottleneck, &side, controller, recovery);
    plan.record.measure_from_ns = 10 * SECOND;
    plan
}

/// Returns the dumbbell of the ns-2 measurements of managed queues: 10 Mbit/s, 40 ms, 20 flows, side links of
/// 100 Mbit/s and 1 ms, 120 s measured from 20 to 120 s.
pub(crate) fn managed_peer_dumbbell(
    queue: QueuePlan,
    controller: &ControllerPlan,
    recovery: RecoveryPlan,
    ecn: bool,
) -> Plan {
    let bottleneck = LinkPlan { queue, ..link("bottleneck", mbps(10), 40.0) };
    let side = LinkPlan { queue: packets(10_000), record: false, ..link("side", mbps(100), 1.0) };
    let mut plan = dumbbell(120, 20, &bottleneck, &side, controller, recovery);
    plan.record.measure_from_ns = 20 * SECOND;
    for transport in plan.flows.iter_mut().filter_map(|flow| flow.transport.as_mut()) {
        transport.ecn = ecn;
    }
    plan
}

/// Returns `flows` long flows over a bottleneck, each with its own side links; flow i starts at i/N seconds.
fn dumbbell(
    seconds: u64,
    flows: u64,
    bottleneck: &LinkPlan,
    side: &LinkPlan,
    controller: &ControllerPlan,
    recovery: RecoveryPlan,
) -> Plan {
    let side = |name: String| LinkPlan { name, ..side.clone() };
    let back = LinkPlan { name: "back".to_owned(), queue: packets(10_000), ..bottleneck.clone() };
    let mut links = vec![bottleneck.clone(), back];
    let mut sources = Vec::new();
    for index in 0..flows {
        let first = links.len();
        links.extend(["up", "down", "out", "in"].map(|name| side(format!("{name}-{index}"))));
        sources.push(FlowPlan {
            path: vec![first, 0, first + 2],
            reverse_path: vec![first + 3, 1, first + 1],
            start_ns: Draw::Constant { value: index as f64 / flows as f64 * 1e9 },
            transport: Some(peer_transport(recovery, 2)),
            ..flow(&format!("f{index}"), controller.clone())
        });
    }
    plan(seconds, links, sources)
}
