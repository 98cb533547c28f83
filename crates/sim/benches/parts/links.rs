//! A single link: datagrams over it to a counting receiver. The item is one packet, including its source and
//! receiver.

use airpath_sim::plan::{LinkPlan, TrafficPlan};
use airpath_sim::{RunControl, Simulation};
use divan::Bencher;
use divan::counter::ItemsCount;

use crate::common::{datagrams, link, mbps, plan};

/// Measures recorded links if `watched`, otherwise links that use the fast path.
#[divan::bench(args = [false, true])]
fn watched(bencher: Bencher<'_, '_>, watched: bool) {
    let traffic = TrafficPlan::ConstantBitRate {
        bps: 90_000_000,
        packet_bytes: 1500,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    // Flows are measured at the second link, so that the first link may be unwatched.
    let links = ["first", "second"].map(|name| LinkPlan { record: watched, ..link(name, mbps(100), 5.0) });
    let mut flow = datagrams("datagrams", traffic);
    (flow.path, flow.measured_at) = (vec![0, 1], 1);
    let plan = plan(2, links.into(), vec![flow]);
    let build = || Simulation::new(&plan, &[], 1).unwrap();
    let packets = build().run(&RunControl::default()).unwrap().counts.packets_sent;
    bencher.counter(ItemsCount::new(packets)).with_inputs(build).bench_values(|simulation| {
        simulation.run(&RunControl::default()).map(|outcome| outcome.counts.packets_sent)
    });
}
