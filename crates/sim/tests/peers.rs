//! The engine against what ns-2 and ns-3 measured for the same scenarios (`data/peers.json`).
//!
//! Tolerances: 5 % of goodput, 20 % of mean queue. A cell outside has an entry in [`EXCEPTIONS`] that says by how much
//! and why; a cell that no longer needs its entry fails as well.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use airpath_sim::plan::*;
use common::*;

const GOODPUT_TOLERANCE: f64 = 0.05;
const QUEUE_TOLERANCE: f64 = 0.20;

/// What is known to differ: scenario, simulator, scheme, quantity, least and most ratio ours to theirs, why.
const EXCEPTIONS: [(&str, &str, &str, &str, f64, f64, &str); 1] = [(
    "single",
    "ns-3",
    "TcpNewReno",
    "goodput_mbps",
    1.06,
    1.09,
    "ns-3 3.44 halves the window twice at each loss of one packet (its trace goes from 167 to 42 segments), so that the \
     link idles after every loss; ns-2 and RFC 5681 halve once",
)];

/// What is wrong with one cell; nothing when it agrees, or differs as known.
fn compare(scenario: &str, cell: &serde_json::Value, quantity: &str, ours: f64) -> Option<String> {
    let (simulator, scheme) = (text(&cell["sim"]), text(&cell["cc"]));
    let theirs = cell[quantity].as_f64().unwrap();
    let ratio = ours / theirs;
    let tolerance = if quantity == "mean_queue" { QUEUE_TOLERANCE } else { GOODPUT_TOLERANCE };
    let agrees = (ratio - 1.0).abs() <= tolerance;
    let known = EXCEPTIONS.iter().find(|known| {
        (known.0, known.1, known.2, known.3) == (scenario, simulator.as_str(), scheme.as_str(), quantity)
    });
    let fine = known.map_or(agrees, |&(.., least, most, _)| !agrees && (least..=most).contains(&ratio));
    (!fine).then(|| format!("{scenario}: {cell}: {quantity} is {ours:.2} here, {ratio:.3} of theirs"))
}

#[test]
fn the_dumbbell_agrees_with_ns_2_and_ns_3() {
    let mut wrong = Vec::new();
    for cell in cells("dumbbell") {
        let scheme = text(&cell["cc"]);
        let flows = cell["n"].as_u64().unwrap();
        let outcome = run(&peer_dumbbell(flows, &controller(&scheme), recovery(&scheme)), 1);
        let goodput =
            table(&outcome, "flows").integers("goodput_bytes").iter().sum::<i64>() as f64 * 8.0 / 50e6;
        let queue = table(&outcome, "links").reals("queue_mean_packets")[0];
        wrong.extend(compare("dumbbell", &cell, "goodput_mbps", goodput));
        wrong.extend(compare("dumbbell", &cell, "mean_queue", queue));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_flow_over_one_link_agrees_in_goodput() {
    let mut wrong = Vec::new();
    for cell in cells("single") {
        let scheme = text(&cell["cc"]);
        let segments = if cell["delayed_ack"].as_bool().unwrap() { 2 } else { 1 };
        let mut source = flow("f", controller(&scheme));
        source.transport = Some(peer_transport(recovery(&scheme), segments));
        let forward = LinkPlan { queue: packets(83), ..link("bottleneck", mbps(10), 50.0) };
        let outcome = run(&plan(60, vec![forward, link("back", mbps(10), 50.0)], vec![source]), 1);
        let goodput = table(&outcome, "flows").integers("goodput_bytes")[0] as f64 * 8.0 / 60e6;
        wrong.extend(compare("single", &cell, "goodput_mbps", goodput));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn cells(name: &str) -> Vec<serde_json::Value> {
    let data: serde_json::Value = serde_json::from_str(include_str!("data/peers.json")).unwrap();
    data[name].as_array().unwrap().clone()
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Both simulators count acknowledgments in slow start and congestion avoidance.
fn controller(scheme: &str) -> ControllerPlan {
    let slow_start = SlowStartPlan::PerAcknowledgment;
    match scheme {
        "sack" | "newreno" | "TcpNewReno" => {
            ControllerPlan::Newreno { counting: CountingPlan::Acknowledgments, slow_start }
        }
        "linux:cubic" => match cubic_2008() {
            ControllerPlan::Cubic { c, beta, fast_convergence, reno_friendly, form, .. } => {
                ControllerPlan::Cubic { c, beta, fast_convergence, reno_friendly, form, slow_start }
            }
            other => other,
        },
        "TcpCubic" => cubic(),
        other => panic!("no controller for {other}"),
    }
}

fn recovery(scheme: &str) -> RecoveryPlan {
    match scheme {
        "newreno" => RecoveryPlan::Newreno,
        "sack" => RecoveryPlan::Sack,
        _ => RecoveryPlan::Prr,
    }
}
