//! The capacity source `busy` in the simulator: departures seen one by one, and counters that are polled.

use crate::common::*;
use airpath_sim::plan::*;

const POLLS_MS: [u64; 4] = [1, 2, 5, 10];

/// Returns the errors of the estimate, relative to the rates of `steps` (pairs of a start in ms and Mbit/s), at the ends of
/// intervals of 10 ms, in increasing order: four flows of XCP for 20 s, with a round trip of 80 ms. Leaves out the
/// first two seconds, and `settling_ms` after each step.
fn errors(poll_ms: Option<u64>, steps: &[(u64, u64)], settling_ms: u64) -> Vec<f64> {
    let source = SourcePlan::named("busy").with("capacity", 3_000_000);
    let source = match poll_ms {
        Some(poll_ms) => source.with("poll_interval", poll_ms * MILLISECOND),
        None => source,
    };
    let queue = QueuePlan::Router {
        limit_bytes: Some(200_000),
        limit_packets: None,
        protocol: xcp_protocol([MILLISECOND, SECOND]),
        source,
    };
    let rate = RatePlan::Steps(StepsConfig {
        steps: steps.iter().map(|(start_ms, mbps)| (start_ms * MILLISECOND, mbps * 1_000_000)).collect(),
        repeat_after_ns: None,
    });
    let links = round_trip_links(LinkPlan { queue, ..link("bottleneck", rate, 40.0) }, 40.0);
    let xcp = || ControllerPlan::Declared(ComponentPlan::named("xcp"));
    let mut plan = plan(20, links, (0..4).map(|number| flow(&format!("f{number}"), xcp())).collect());
    plan.record.interval_ns = 10 * MILLISECOND;
    let outcome = run(&plan, 1);
    let observed = table(&outcome, "link_observations");
    let estimate = outcome.quantities.iter().position(|name| name == "capacity_estimate_bps").unwrap() as i64;
    let rows = observed
        .integers("quantity")
        .iter()
        .zip(observed.reals("time_s").iter().zip(observed.reals("value").iter()));
    let mut errors = Vec::new();
    for (_, (time_s, value)) in rows.filter(|(quantity, _)| **quantity == estimate) {
        let now_ms = (time_s * 1e3).round() as u64;
        let (since_ms, mbps) = steps.iter().rev().find(|(start_ms, _)| *start_ms < now_ms).unwrap();
        if now_ms > 2000 && now_ms > since_ms + settling_ms {
            errors.push((value / (*mbps as f64 * 1e6) - 1.0).abs());
        }
    }
    errors.sort_by(f64::total_cmp);
    errors
}

/// Returns the value below which a share of the sorted errors lies.
fn quantile(errors: &[f64], share: f64) -> f64 {
    errors[((errors.len() - 1) as f64 * share) as usize]
}

/// The error of a sum of gaps is at most a packet of 1.2 ms or an interval between readings, over the memory of 100 ms.
#[test]
fn polled_counters_measure_a_constant_rate() {
    let exact = errors(None, &[(0, 10)], 0);
    assert!(quantile(&exact, 0.95) < 1e-6);
    for poll_ms in POLLS_MS {
        let found = errors(Some(poll_ms), &[(0, 10)], 0);
        let p95 = quantile(&found, 0.95);
        assert!(p95 < 0.012, "{poll_ms} ms: {p95}");
    }
}

/// After an upward step the queue is soon empty, and little is measured until feedback fills it again.
#[test]
fn polled_counters_follow_steps_within_three_seconds() {
    for poll_ms in POLLS_MS {
        let found = errors(Some(poll_ms), &[(0, 10), (5000, 20), (10_000, 2), (15_000, 8)], 3000);
        let (median, p95) = (quantile(&found, 0.5), quantile(&found, 0.95));
        // A packet of 6 ms at 2 Mbit/s, over the memory of 100 ms.
        assert!(median < 0.012 && p95 < 0.06, "{poll_ms} ms: {median}, {p95}");
    }
}
