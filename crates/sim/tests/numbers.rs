//! Numbers of a plan are those that whoever made it wrote: every digit counts.

mod common;

use airpath_sim::plan::*;
use common::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn numbers_survive_being_written_and_read(delay in 0.0..1e18_f64, c in 1e-9..1e3_f64, power in -30..200_i32) {
        let mut links = there_and_back(link("there", mbps(10), 1.0), 1.0);
        links[0].delay_ns = Draw::Constant { value: delay };
        links[1].delay_ns = Draw::Exponential { mean: c * 10_f64.powi(power) };
        let plan = plan(1, links, vec![flow("a", cubic())]);
        let text = serde_json::to_string(&plan).unwrap_or_default();
        prop_assert_eq!(Plan::from_json(&text), Ok(plan));
    }
}
