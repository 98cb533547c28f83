//! Events at the instant at which an interval ends.

use crate::common::*;
use airpath_sim::plan::*;

/// Packets of 1500 bytes are sent every 10 ms and arrive 20 ms later, the last of them when the run ends.
/// That event is requested 10 ms before, when its predecessor arrives: before the end of an interval of 1 ms
/// is requested, and after the end of one of 1 s.
#[test]
fn an_arrival_at_the_end_of_an_interval_counts_the_same_for_any_interval_length() {
    let bottleneck = link("bottleneck", RatePlan::Constant(ConstantConfig { bps: 1_200_000 }), 20.0);
    let mut plan = plan(3, round_trip_links(bottleneck, 20.0), vec![flow("a", fixed(14_600))]);
    for interval_ms in [1, 10, 20, 50, 100, 500, 1000] {
        plan.record.interval_ns = interval_ms * MILLISECOND;
        plan.record.packets = true;
        let outcome = run(&plan, 1);
        let flows = table(&outcome, "flows");
        let [delivered, goodput] = ["delivered_packets", "goodput_bytes"].map(|name| flows.integers(name)[0]);
        // At 30, 40, … 2990 ms; the arrival at 3000 ms is after the end of the last interval.
        assert_eq!((delivered, goodput), (297, 297 * 1460), "intervals of {interval_ms} ms");
        let rows = table(&outcome, "packets").integers("flow").len();
        let delays = table(&outcome, "delay_histogram");
        let one_way =
            delays.integers("kind").iter().zip(delays.integers("packets")).filter(|(kind, _)| **kind == 0);
        let in_bins: i64 = one_way.map(|(_, packets)| *packets).sum();
        assert_eq!((rows, in_bins), (297, 297), "intervals of {interval_ms} ms");
    }
}
