//! Scenarios over quinn: what arrives, and beside the simulator.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../sim/tests/common/mod.rs"]
mod common;

use airpath_quic::QuicRun;
use airpath_sim::plan::*;
use airpath_sim::{Outcome, RunControl};
use common::*;

fn over_quic(plan: &Plan, seed: u64) -> Outcome {
    QuicRun::new(plan, &[], seed).unwrap().run(&RunControl::default()).unwrap()
}

fn goodput(outcome: &Outcome, flow: usize) -> f64 {
    table(outcome, "flows").integers("goodput_bytes")[flow] as f64
}

/// 10 Mbit/s, 40 ms, a buffer of one product of bandwidth and delay.
fn bottleneck(seconds: u64, controllers: Vec<ControllerPlan>) -> Plan {
    let forward = LinkPlan { queue: packets(33), ..link("bottleneck", mbps(10), 20.0) };
    let flows = controllers.into_iter().enumerate();
    let flows = flows.map(|(number, controller)| flow(&format!("f{number}"), controller)).collect();
    plan(seconds, there_and_back(forward, 20.0), flows)
}

#[test]
fn a_flow_fills_the_link() {
    for controller in [newreno(), cubic()] {
        let plan = bottleneck(30, vec![controller.clone()]);
        let (quic, sim) = (goodput(&over_quic(&plan, 1), 0), goodput(&run(&plan, 1), 0));
        let ratio = quic / sim;
        println!("{controller:?} {ratio} {} Mbit/s", quic * 8.0 / 30e6);
        assert!((0.9..1.05).contains(&ratio), "{controller:?}: {quic} over QUIC, {sim} simulated");
    }
}
