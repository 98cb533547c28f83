//! Numbers of a plan are read exactly as written: every digit counts.

use crate::common::*;
use airpath_sim::plan::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn numbers_round_trip_through_text(delay in 0.0..1e18_f64, mean in prop::num::f64::POSITIVE) {
        let mut links = round_trip_links(link("there", mbps(10), 1.0), 1.0);
        links[0].delay_ns = Draw::Constant { value: delay };
        links[1].delay_ns = Draw::Exponential { mean };
        let plan = plan(1, links, vec![flow("a", cubic())]);
        let text = serde_json::to_string(&plan).unwrap_or_default();
        prop_assert_eq!(Plan::from_json(&text), Ok(plan));
    }
}
