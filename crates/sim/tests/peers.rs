//! The engine against what ns-2 and ns-3 measured for the same scenarios (`data/peers.json`).
//!
//! Stated tolerances: 5 % of goodput, 20 % of mean queue. Where a cell lies outside, the table of exceptions below
//! says by how much and why; a cell that no longer needs its exception fails as well.

mod common;

use airpath_sim::plan::*;
use common::*;

const GOODPUT_TOLERANCE: f64 = 0.05;
const QUEUE_TOLERANCE: f64 = 0.20;

/// (simulator, scheme, flows, quantity, least and most ratio ours/theirs, why).
const EXCEPTIONS: [(&str, &str, u64, &str, f64, f64, &str); 0] = [];

#[test]
fn the_dumbbell_agrees_with_ns_2_and_ns_3() {
    let mut wrong = Vec::new();
    for cell in cells("dumbbell") {
        let (simulator, scheme) = (text(&cell["sim"]), text(&cell["cc"]));
        let flows = cell["n"].as_u64().unwrap();
        let outcome = run(&peer_dumbbell(flows, &controller(&scheme), recovery(&scheme)), 1);
        let goodput = table(&outcome, "flows").integers("goodput_bytes").iter().sum::<i64>() as f64 * 8.0 / 50e6;
        let queue = table(&outcome, "links").reals("queue_mean_packets")[0];
        for (quantity, ours, tolerance) in
            [("goodput_mbps", goodput, GOODPUT_TOLERANCE), ("mean_queue", queue, QUEUE_TOLERANCE)]
        {
            let theirs = cell[quantity].as_f64().unwrap();
            let ratio = ours / theirs;
            println!("{simulator:8} {scheme:12} {flows:4} {quantity:12} {theirs:8.2} {ours:8.2} {ratio:6.3}");
            let exception = EXCEPTIONS.iter().find(|(sim, cc, n, what, ..)| {
                (*sim, *cc, *n, *what) == (simulator.as_str(), scheme.as_str(), flows, quantity)
            });
            let inside = match exception {
                Some(&(.., least, most, _)) => (least..=most).contains(&ratio) && (ratio - 1.0).abs() > tolerance,
                None => (ratio - 1.0).abs() <= tolerance,
            };
            if !inside {
                wrong.push(format!("{simulator} {scheme} n={flows} {quantity}: {theirs:.2}, here {ours:.2} ({ratio:.3})"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_flow_over_one_link_agrees_in_goodput() {
    let mut wrong = Vec::new();
    for cell in cells("single") {
        let (simulator, scheme) = (text(&cell["sim"]), text(&cell["cc"]));
        let delayed = cell["delayed_ack"].as_bool().unwrap();
        let mut source = flow("f", controller(&scheme));
        source.transport = Some(peer_transport(recovery(&scheme), if delayed { 2 } else { 1 }));
        let forward = LinkPlan { queue: packets(83), ..link("bottleneck", mbps(10), 50.0) };
        let back = link("back", mbps(10), 50.0);
        let outcome = run(&plan(60, vec![forward, back], vec![source]), 1);
        let ours = table(&outcome, "flows").integers("goodput_bytes")[0] as f64 * 8.0 / 60e6;
        let theirs = cell["goodput_mbps"].as_f64().unwrap();
        println!("{simulator:8} {scheme:12} delayed {delayed:5} {theirs:8.2} {ours:8.2} {:6.3}", ours / theirs);
        if (ours / theirs - 1.0).abs() > GOODPUT_TOLERANCE {
            wrong.push(format!("{simulator} {scheme} delayed={delayed}: {theirs:.2}, here {ours:.2}"));
        }
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
