//! Making a run ready costs each flow the same, however many there are.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "it is about time on the machine")]

use std::time::Duration;

use crate::common::*;
use airpath_sim::Simulation;
use airpath_sim::plan::*;

/// What this thread had of a processor. On a busy machine the time on a wall has that of others in it, by another share where
/// it is longer: who is done within one turn of the scheduler never waits.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    // The scheduler counts what a thread had when the thread makes way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}

/// The shortest of several times, since whatever else a machine does only makes it longer.
fn set_up(flows: u64) -> Duration {
    let text = serde_json::to_string(&peer_dumbbell(flows, &newreno(), RecoveryPlan::Sack)).unwrap();
    let time = || {
        let began = processor_time();
        let plan = Plan::from_json(&text).unwrap();
        Simulation::new(&plan, &[], 1).unwrap();
        processor_time().saturating_sub(began)
    };
    (0..5).map(|_| time()).min().unwrap()
}

#[test]
fn set_up_grows_with_the_number_of_flows_and_not_with_its_square() {
    // Eight times as much, caches aside; 64 times if each link asks every flow.
    let (few, many) = (set_up(1000), set_up(8000));
    assert!(many < 20 * few, "{few:?} with 1000 flows, {many:?} with 8000");
}
