//! Compares XCP with that of ns-2.35 (`data/xcp_peers.json`): one link of 10 Mbit/s, 20 flows in each
//! direction over a round trip of 80 ms; the router is configured with 10 Mbit/s for any rate of the link, or
//! notified of each change (`track`).
//!
//! Tolerances: 5 % of goodput, 20 % of mean queue. Each cell outside has an entry in [`EXCEPTIONS`] with the
//! ratio and the reason; a cell that no longer needs its entry fails as well.
//!
//! With traffic in both directions single runs differ considerably (at 4 of 10 Mbit/s ns-2's goodput is
//! between 2.3 and 2.9 Mbit/s), so means of ten runs are compared. ns-2's flows start evenly over ten
//! intervals from 1.5 to 2.5 s. Ours start evenly over 2 s and up to 50 ms late: ns-2 randomizes the first
//! expiry of each router's timers, while ours start together, and without this delay equal directions would
//! stay synchronized.

use crate::common::*;
use airpath_sim::plan::*;

const GOODPUT_TOLERANCE: f64 = 0.05;
const QUEUE_TOLERANCE: f64 = 0.20;

/// The capacity configured in the router, bit/s.
const BELIEVED: u64 = 10_000_000;

/// A data packet on the wire, bytes.
const PACKET: f64 = 1010.0;

/// Known differences: case, quantity, lowest and highest ratio (airpath to ns-2), reason.
const EXCEPTIONS: [(&str, &str, f64, f64, &str); 1] = [(
    "no_reverse",
    "mean_queue",
    1.2,
    1.3,
    "an idle link is an empty queue here. In ns-2 the scheduler of virtual queues does not ask XCP's queue when all are \
     empty, so that idleness goes unseen and a packet that meets an idle link sees itself. With that put in here for \
     trial the means are 0.79 packets, ns-2's 0.82, and 0.285 with one flow, ns-2's 0.288",
)];

#[test]
fn xcp_agrees_with_ns_2() {
    let cells = cells();
    let mut wrong = Vec::new();
    for (cell, (goodput, queue)) in cells.iter().zip(in_threads(&cells, measure)) {
        wrong.extend(compare(cell, "goodput_mbps", goodput, GOODPUT_TOLERANCE));
        wrong.extend(compare(cell, "mean_queue", queue, QUEUE_TOLERANCE));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With F = 0 and y = R, the queue settles at Q = (α/β) min(RTT, 1 s) (C − R), with Q/R included in the
/// round-trip time. The mean is less than two packets higher, because Q is the shortest queue.
#[test]
fn below_the_configured_capacity_the_queue_matches_the_control_law() {
    let resting = cells().into_iter().filter(|cell| text(&cell["case"]).ends_with("noreverse"));
    let mut tried = 0;
    for cell in resting {
        let carried = cell["rates"][0].as_f64().unwrap() * 1e6 / 8.0;
        let above = BELIEVED as f64 / 8.0 - carried;
        let gain = 0.4 / 0.226;
        // Propagation, plus the packet on the link and on two side links.
        let empty_rtt = 0.080 + PACKET / carried + 2.0 * PACKET * 8.0 / 100e6;
        let share = gain * above / carried;
        let uncapped = if share < 1.0 { gain * above * empty_rtt / (1.0 - share) } else { f64::INFINITY };
        let law = if empty_rtt + uncapped / carried < 1.0 { uncapped } else { gain * above };
        let (_, queue) = measure(&cell);
        let excess = queue - law / PACKET;
        assert!(
            (-0.5..2.0).contains(&excess),
            "{cell}: {queue:.2} packets, the law predicts {:.2}",
            law / PACKET
        );
        tried += 1;
    }
    assert_eq!(tried, 3);
}

/// Returns the problem with one cell; `None` if it agrees, or differs as known.
fn compare(cell: &serde_json::Value, quantity: &str, ours: f64, tolerance: f64) -> Option<String> {
    let case = text(&cell["case"]);
    let ratio = ours / cell[quantity].as_f64().unwrap();
    let agrees = (ratio - 1.0).abs() <= tolerance;
    let known = EXCEPTIONS.iter().find(|known| (known.0, known.1) == (case.as_str(), quantity));
    let fine = known.map_or(agrees, |&(_, _, least, most, _)| !agrees && (least..=most).contains(&ratio));
    (!fine).then(|| format!("{case}: {quantity} is {ours:.3} here, {ratio:.3} of theirs"))
}

/// Returns the goodput of the forward flows in Mbit/s and the mean queue of the forward link in packets, as
/// means over seeds.
fn measure(cell: &serde_json::Value) -> (f64, f64) {
    let draws = if cell["case"].as_str().unwrap().ends_with("_noreverse") { 1 } else { 10 };
    let span = (number(cell, "t") - number(cell, "warm")) as f64;
    let forward = number(cell, "nf") as usize;
    let (mut goodput, mut queue) = (0.0, 0.0);
    for seed in 1..=draws {
        let outcome = run(&scenario(cell), seed);
        let bytes: i64 = table(&outcome, "flows").integers("goodput_bytes").iter().take(forward).sum();
        goodput += bytes as f64 * 8.0 / span / 1e6 / draws as f64;
        queue += table(&outcome, "links").reals("queue_mean_packets")[0] / draws as f64;
    }
    (goodput, queue)
}

fn cells() -> Vec<serde_json::Value> {
    let data: serde_json::Value = serde_json::from_str(include_str!("data/xcp_peers.json")).unwrap();
    data.as_array().unwrap().clone()
}

fn scenario(cell: &serde_json::Value) -> Plan {
    let source = if cell["track"].as_bool().unwrap() {
        SourcePlan::named("oracle").with("averaging", 200 * MILLISECOND)
    } else {
        SourcePlan::named("configured").with("capacity", BELIEVED)
    };
    let buffer = number(cell, "buffer");
    let bottleneck =
        |name: &str| LinkPlan { queue: xcp_queue(buffer, source.clone()), ..link(name, rate(cell), 32.0) };
    let side = |name: String| LinkPlan {
        queue: xcp_queue(2000, SourcePlan::named("configured").with("capacity", 100_000_000)),
        record: false,
        ..link(&name, mbps(100), 4.0)
    };
    let mut links = vec![bottleneck("forward"), bottleneck("backward")];
    let mut flows = Vec::new();
    for (direction, count) in [(0, number(cell, "nf")), (1, number(cell, "nr"))] {
        for index in 0..count {
            let first = links.len();
            let start = 2e9 * index as f64 / count as f64;
            links.extend(["up", "down", "out", "in"].map(|name| side(format!("{name}-{direction}-{index}"))));
            flows.push(FlowPlan {
                path: vec![first, direction, first + 2],
                reverse_path: vec![first + 3, 1 - direction, first + 1],
                measured_at: direction,
                start_ns: Draw::Uniform { low: start, high: start + 50e6 },
                transport: Some(ns2_transport()),
                ..flow(
                    &format!("f{direction}-{index}"),
                    ControllerPlan::Declared(ComponentPlan::named("xcp")),
                )
            });
        }
    }
    let mut plan = plan(number(cell, "t"), links, flows);
    plan.record.measure_from_ns = number(cell, "warm") * SECOND;
    plan
}

/// Returns the rates of the link, each for 10 s, repeated.
fn rate(cell: &serde_json::Value) -> RatePlan {
    let rates: Vec<f64> =
        cell["rates"].as_array().unwrap().iter().map(|rate| rate.as_f64().unwrap()).collect();
    let step = 10 * SECOND;
    let steps = (0..).zip(&rates).map(|(index, rate)| (index * step, (rate * 1e6) as u64)).collect();
    RatePlan::Steps(StepsConfig { steps, repeat_after_ns: Some(rates.len() as u64 * step) })
}

fn xcp_queue(limit_packets: u64, source: SourcePlan) -> QueuePlan {
    QueuePlan::Router {
        limit_bytes: None,
        limit_packets: Some(limit_packets),
        protocol: xcp_protocol([MILLISECOND, SECOND]),
        source,
    }
}

/// Returns the transport of ns-2's `Agent/TCP/Reno/XCP` and its sink: 960 bytes in packets of 1010 (40 of
/// headers, 10 of timestamps), a 40-byte acknowledgment of each packet.
fn ns2_transport() -> TransportPlan {
    TransportPlan {
        mss_bytes: 960,
        header_bytes: 50,
        initial_window_bytes: 9600,
        receive_window_bytes: 9_600_000,
        recovery: RecoveryPlan::Reno,
        lost_retransmission_detection: false,
        spurious_timeout_undo: false,
        rto_floor: RtoFloorPlan::Timeout,
        initial_rto_ns: 3 * SECOND,
        ..transport()
    }
}

fn number(cell: &serde_json::Value, field: &str) -> u64 {
    cell[field].as_u64().unwrap()
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap().to_owned()
}
