//! What counts as a finished transfer.

mod common;

use airpath_sim::plan::*;
use common::*;

#[test]
fn a_file_that_is_stopped_before_its_end_is_no_finished_transfer() {
    // 2 s of 10 Mbit/s; a file of 1 MB is done by then, one of 20 MB is not.
    let completed = |bytes: u64, stop_ns: u64| {
        let file = FlowPlan {
            traffic: TrafficPlan::File { bytes },
            stop_ns: Some(Draw::Constant { value: stop_ns as f64 }),
            ..flow("file", newreno())
        };
        let outcome = run(&plan(5, there_and_back(link("bottleneck", mbps(10), 20.0), 20.0), vec![file]), 1);
        table(&outcome, "completions").integers("bytes").to_vec()
    };
    assert_eq!(completed(1_000_000, 2 * SECOND), [1_000_000]);
    assert!(completed(20_000_000, 2 * SECOND).is_empty());
    // Stopped when all has left and not all has arrived: 14 600 bytes in the first window, 40 ms to the last acknowledgment.
    assert_eq!(completed(14_600, 10 * MILLISECOND), [14_600]);
}
