//! DCTCP over a step threshold, compared with the sawtooth of its analysis (Alizadeh et al., SIGCOMM 2010,
//! section 3.3).
//!
//! N synchronized flows over C packets per second, a round trip RTT and marks from K packets on: with W = (C
//! RTT + K) / N, `α² (1 − α/4) = (2W + 1) / (W + 1)²`; windows fall by D = (W + 1) α/2 and recover in D round
//! trips, and the queue oscillates between K + N − N D and K + N.

use crate::common::*;
use airpath_sim::Outcome;
use airpath_sim::plan::*;

const MBPS: u64 = 100;
/// g of RFC 8257.
const GAIN: f64 = 1.0 / 16.0;
/// C, packets of 1500 bytes.
const PACKETS_PER_SECOND: f64 = 1e8 / 12_000.0;

/// Runs flows over 100 Mbit/s with the low-latency queue of `DualPI2`, whose step marks packets that find
/// `threshold` packets queued.
fn over(rtt_ms: f64, threshold: f64, flows: u32) -> Outcome {
    let step_ns = (threshold / PACKETS_PER_SECOND * SECOND as f64) as u64;
    let management = dual_pi2().with("step", step_ns);
    let queue = QueuePlan::Managed { limit_bytes: None, limit_packets: Some(10_000), management };
    let forward = LinkPlan { queue, ..link("bottleneck", mbps(MBPS), rtt_ms / 2.0) };
    // No round trip is shorter than the virtual one, so Prague's rule equals DCTCP's.
    let controller =
        ControllerPlan::Declared(ComponentPlan::named("prague").with("gain", GAIN).with("virtual_rtt", 1));
    let transport = TransportPlan { ecn: true, accurate_ecn: true, ..transport() };
    let flows = (0..flows).map(|index| FlowPlan {
        transport: Some(transport.clone()),
        ..flow(&format!("f{index}"), controller.clone())
    });
    let mut plan = plan(30, round_trip_links(forward, rtt_ms / 2.0), flows.collect());
    plan.record.measure_from_ns = 5 * SECOND;
    plan.record.interval_ns = MILLISECOND;
    run(&plan, 1)
}

/// Returns α of the analysis, by bisection.
fn alpha(window: f64) -> f64 {
    let wanted = (2.0 * window + 1.0) / ((window + 1.0) * (window + 1.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle: f64 = f64::midpoint(low, high);
        if middle * middle * (1.0 - middle / 4.0) < wanted { low = middle } else { high = middle }
    }
    low
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the queue of the first link after 5 s, in packets, for each millisecond.
fn queue(outcome: &Outcome) -> Vec<f64> {
    let series = table(outcome, "link_series");
    let rows = series.integers("link").iter().zip(series.reals("queue_mean_bytes"));
    rows.filter(|(link, _)| **link == 0).skip(5000).map(|(_, &bytes)| bytes / 1500.0).collect()
}

/// Returns every α reported after 5 s.
fn alphas(outcome: &Outcome) -> Vec<f64> {
    let reported = table(outcome, "flow_observations");
    let rows = reported.reals("time_s").iter().zip(reported.reals("value"));
    rows.filter(|(time, _)| **time > 5.0).map(|(_, &alpha)| alpha).collect()
}

#[test]
fn one_flow_oscillates_as_the_analysis_predicts() {
    for (rtt_ms, threshold) in [(10.0, 20.0), (10.0, 40.0), (20.0, 40.0)] {
        let outcome = over(rtt_ms, threshold, 1);
        let window = PACKETS_PER_SECOND * rtt_ms * 1e-3 + threshold;
        let expected = alpha(window);
        let swing = (window + 1.0) * expected / 2.0;
        let (queue, seen) = (queue(&outcome), mean(&alphas(&outcome)));
        assert!(
            (seen / expected - 1.0).abs() < 0.05,
            "{rtt_ms} ms, {threshold}: alpha {seen} for {expected}"
        );
        let waits = threshold + 1.0 - swing / 2.0;
        assert!((mean(&queue) - waits).abs() < 0.5, "{rtt_ms} ms, {threshold}: {} for {waits}", mean(&queue));
        let (low, high) =
            queue.iter().fold((f64::MAX, 0.0_f64), |(low, high), &one| (low.min(one), high.max(one)));
        assert!((high - threshold - 1.0).abs() < 1.0, "{rtt_ms} ms, {threshold}: at most {high}");
        // The analysis assumes a constant α. It falls by (1 − g)^D until it is used, and counts whole
        // packets.
        let least = swing * libm::pow(1.0 - GAIN, swing) - 1.0;
        let seen = high - low;
        assert!(
            seen > least && seen < swing + 1.0,
            "{rtt_ms} ms, {threshold}: {seen} for {least} to {swing}"
        );
        assert_eq!(table(&outcome, "links").integers("dropped_packets_total")[0], 0);
    }
}

fn utilisation(outcome: &Outcome) -> f64 {
    let links = table(outcome, "links");
    links.integers("departed_bytes")[0] as f64 / links.reals("offered_bytes")[0]
}

/// K above C RTT / 7 keeps the queue from running empty (section 3.4); far below it the link is idle after
/// each reduction.
#[test]
fn a_threshold_of_a_seventh_of_the_bdp_suffices_and_a_much_lower_one_does_not() {
    let product = PACKETS_PER_SECOND * 0.020;
    let [enough, little] = [product / 7.0, 2.0].map(|threshold| utilisation(&over(20.0, threshold, 1)));
    assert!(enough > 0.999, "{enough}");
    assert!(little < 0.99, "{little}");
}

#[test]
fn flows_share_equally() {
    let outcome = over(10.0, 40.0, 4);
    let departed = table(&outcome, "flows").integers("departed_bytes");
    let equal = departed.iter().sum::<i64>() as f64 / 4.0;
    assert!(departed.iter().all(|&bytes| (bytes as f64 / equal - 1.0).abs() < 0.1), "{departed:?}");
    assert!(utilisation(&outcome) > 0.999);
}
