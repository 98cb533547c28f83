//! Work that the end of a run makes unnecessary.

use crate::common::*;
use airpath_sim::plan::*;

/// The first packet takes two hours, in which the rate changes each nanosecond: computing its departure would
/// take a day.
#[test]
fn a_packet_that_cannot_depart_before_the_end_is_not_simulated() {
    let rate = RatePlan::Steps(StepsConfig { steps: vec![(0, 1), (1, 2)], repeat_after_ns: Some(2) });
    let links = round_trip_links(link("slow", rate, 1.0), 1.0);
    let mut plan = plan(1, links, vec![flow("a", fixed(14_600))]);
    (plan.duration_ns, plan.record.interval_ns) = (MILLISECOND, MILLISECOND);
    let outcome = run(&plan, 1);
    assert_eq!(table(&outcome, "flows").integers("delivered_packets"), [0]);
}
