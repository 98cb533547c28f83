//! Making a run ready costs each flow the same, however many there are.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "it is about time on the machine")]

mod common;

use std::time::{Duration, Instant};

use airpath_sim::Simulation;
use airpath_sim::plan::*;
use common::*;

/// The shortest of several times, since whatever else a machine does only makes it longer.
fn set_up(flows: u64) -> Duration {
    let text = serde_json::to_string(&peer_dumbbell(flows, &newreno(), RecoveryPlan::Sack)).unwrap();
    let time = || {
        let began = Instant::now();
        let plan = Plan::from_json(&text).unwrap();
        Simulation::new(&plan, &[], 1).unwrap();
        began.elapsed()
    };
    (0..5).map(|_| time()).min().unwrap()
}

#[test]
fn set_up_grows_with_the_number_of_flows_and_not_with_its_square() {
    // Eight times as much, caches aside; 64 times if each link asks every flow.
    let (few, many) = (set_up(1000), set_up(8000));
    assert!(many < 20 * few, "{few:?} with 1000 flows, {many:?} with 8000");
}
