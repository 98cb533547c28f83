//! Packet-hops per second of the engine: the dumbbell that ns-2 and ns-3 were measured with.
//!
//! A packet-hop is one packet over one link, data and acknowledgments alike. One "item" below is one packet-hop.

#[path = "../tests/common/mod.rs"]
mod common;

use airpath_sim::plan::{Plan, RecoveryPlan};
use airpath_sim::{RunControl, Simulation};
use common::{peer_dumbbell, run};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

#[divan::bench(args = [1, 10, 100, 1000], sample_count = 3, sample_size = 1)]
fn newreno(bencher: Bencher<'_, '_>, flows: u64) {
    measure(bencher, &peer_dumbbell(flows, &common::newreno(), RecoveryPlan::Prr));
}

#[divan::bench(args = [1, 100], sample_count = 3, sample_size = 1)]
fn cubic(bencher: Bencher<'_, '_>, flows: u64) {
    measure(bencher, &peer_dumbbell(flows, &common::cubic(), RecoveryPlan::Prr));
}

fn measure(bencher: Bencher<'_, '_>, plan: &Plan) {
    let hops = run(plan, 1).counts.packet_hops;
    bencher
        .counter(ItemsCount::new(hops))
        .with_inputs(|| Simulation::new(plan, &[], 1).expect("a runnable plan"))
        .bench_values(|simulation| {
            simulation.run(&RunControl::default()).map(|outcome| outcome.counts.events)
        });
}
