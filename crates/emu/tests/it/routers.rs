//! Links that a router of the kernel does not support.

use airpath_emu::{Emulation, EmulationError, Options};
use airpath_plan::*;

use crate::support::*;

/// Limit of the queue in bytes.
const LIMIT: u64 = 60_000;

/// Returns a plan of a link with these rates whose queue is the kernel's, and a reverse path.
fn routed(seconds: u64, rate: RatePlan) -> Plan {
    let mut there = link("there", rate, 5.0, 0);
    there.queue = QueuePlan::DropTail { limit_bytes: Some(LIMIT), limit_packets: None };
    plan(seconds, vec![there, link("back", RatePlan::Unlimited, 5.0, 1000)], 1)
}

fn steps(steps: &[(u64, u64)]) -> RatePlan {
    let steps = steps.iter().map(|(second, bps)| (second * SECOND, *bps)).collect();
    RatePlan::Steps(StepsConfig { steps, repeat_after_ns: None })
}

#[test]
fn unsupported_token_bucket_configurations_are_rejected() {
    if !hosts_can_be_made() {
        return;
    }
    let refused = |plan: Plan, routers| {
        let options = Options { routers, ..Options::default() };
        match Emulation::start(&plan, &[], 1, &options) {
            Err(EmulationError::NotEmulated(said)) => said.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let still = refused(routed(2, steps(&[(0, 1_000_000), (1, 0)])), vec![0]);
    assert_eq!(
        still,
        "link there: rate: it falls below 12 kbit/s, one packet in a second, but the token bucket of a router of the kernel \
         cannot be still; accepted: at least 12 kbit/s"
    );
    let often = RatePlan::Uniform(UniformConfig {
        low_bps: 1_000_000,
        high_bps: 2_000_000,
        hold_ns: 50 * MILLISECOND,
        initial_bps: None,
        stream: None,
    });
    assert!(refused(routed(1, often), vec![0]).contains("more often than every 100 ms"));
    let mut unlimited = routed(1, constant(1_000_000));
    unlimited.links[0].queue = QueuePlan::DropTail { limit_bytes: None, limit_packets: Some(10) };
    assert!(refused(unlimited, vec![0]).starts_with("link there: queue.limit: "));
    let mut repeating = routed(1, constant(1_000_000));
    repeating.links[0].arq =
        Some(ArqPlan::named("selective-repeat").with("retries", 1).with("delay", MILLISECOND));
    assert!(refused(repeating, vec![0]).starts_with("link there: arq: "));
}
