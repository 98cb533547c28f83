//! ABC as a whole: its routers and senders over constant, stepping and successive links.

use crate::common::*;
use airpath_sim::Outcome;
use airpath_sim::plan::*;

/// The one-way delay for a round trip of 100 ms, for which the parameters were published.
const DELAY_MS: f64 = 50.0;
const PACKETS_PER_SECOND: f64 = 1000.0;

fn abc() -> ControllerPlan {
    ControllerPlan::Declared(ComponentPlan::named("abc"))
}

/// Returns a link with an ABC router that uses the true link rate and a buffer of 250 packets.
fn routed(name: &str, rate: RatePlan, delay_ms: f64) -> LinkPlan {
    LinkPlan { queue: abc_router(), ..link(name, rate, delay_ms) }
}

/// Runs flows over 12 Mbit/s, measured from 20 to 60 s.
fn steady(flows: u32, controller: &ControllerPlan) -> Outcome {
    let links = round_trip_links(routed("bottleneck", mbps(12), DELAY_MS), DELAY_MS);
    let flows = (0..flows).map(|index| flow(&format!("f{index}"), controller.clone())).collect();
    let mut plan = plan(60, links, flows);
    plan.record.measure_from_ns = 20 * SECOND;
    run(&plan, 1)
}

fn utilisation(outcome: &Outcome, link: usize) -> f64 {
    let links = table(outcome, "links");
    links.integers("departed_bytes")[link] as f64 / links.reals("offered_bytes")[link]
}

/// Returns the time-weighted mean queue of the first link after 20 s, in seconds at 12 Mbit/s.
fn mean_delay(outcome: &Outcome) -> f64 {
    let series = table(outcome, "link_series");
    let rows = series.integers("link").iter().zip(series.reals("queue_mean_bytes"));
    let first: Vec<f64> = rows.filter(|(link, _)| **link == 0).map(|(_, &bytes)| bytes).skip(200).collect();
    first.iter().sum::<f64>() / first.len() as f64 / 1.5e6
}

fn jain(outcome: &Outcome) -> f64 {
    let goodput: Vec<f64> =
        table(outcome, "flows").integers("goodput_bytes").iter().map(|&bytes| bytes as f64).collect();
    let (sum, squares) =
        goodput.iter().fold((0.0, 0.0), |(sum, squares), one| (sum + one, squares + one * one));
    sum * sum / squares / goodput.len() as f64
}

/// In equilibrium accelerates, brakes and the additive increase are balanced: tr / cr + N / w = 1, with w =
/// cr RTT for all flows together. Without a queue tr = 0.98 μ, so cr = 0.98 μ + N / RTT.
#[test]
fn one_flow_fills_the_link_to_the_target_and_its_increase() {
    let outcome = steady(1, &abc());
    let expected = 0.98 + 1.0 / (PACKETS_PER_SECOND * 0.1);
    assert!(
        (utilisation(&outcome, 0) - expected).abs() < 0.002,
        "{} for {expected}",
        utilisation(&outcome, 0)
    );
    assert!(mean_delay(&outcome) < 0.003, "{} s", mean_delay(&outcome));
}

/// If that exceeds the capacity of the link, there is a standing queue above `d_t`: cr = μ, and (x − `d_t`) /
/// δ = N / (μ RTT) − 0.02, with the delay included in the RTT.
#[test]
fn many_flows_fill_the_link_and_wait_slightly_longer_than_the_threshold() {
    for flows in [5, 10] {
        let outcome = steady(flows, &abc());
        assert!(utilisation(&outcome, 0) > 0.999, "{flows} flows: {}", utilisation(&outcome, 0));
        let mut expected = 0.05;
        for _ in 0..50 {
            let share = f64::from(flows) / (PACKETS_PER_SECOND * (0.1 + expected));
            expected = 0.05 + 0.133_333 * (share - 0.02);
        }
        // 3 ms are the contribution of a flow's bursts: two packets are sent per accelerate.
        let delay = mean_delay(&outcome);
        assert!((delay - expected).abs() < 0.003, "{flows} flows wait {delay} s for {expected} s");
    }
}

/// Shares fluctuate, because each mark changes a window by a packet. They are equal only over many times the
/// time in which the additive increase equalizes them, W RTT / N = 6 s.
#[test]
fn late_flows_get_their_share() {
    let links = round_trip_links(routed("bottleneck", mbps(12), DELAY_MS), DELAY_MS);
    let flows = (0..4).map(|index| FlowPlan {
        start_ns: Draw::Constant { value: f64::from(index) * 5.0 * SECOND as f64 },
        ..flow(&format!("f{index}"), abc())
    });
    let mut plan = plan(360, links, flows.collect());
    plan.record.measure_from_ns = 60 * SECOND;
    let outcome = run(&plan, 1);
    assert!(jain(&outcome) > 0.97, "{}", jain(&outcome));
    let mut alone = plan;
    for flow in &mut alone.flows {
        let patient = ComponentPlan::named("abc").with("additive_increase", 0.0);
        flow.controller = Some(ControllerPlan::Declared(patient));
    }
    // The additive increase is the cause.
    let without = jain(&run(&alone, 1));
    assert!(without < 0.9, "{without}");
}

/// 12 and 4 Mbit/s alternate every 5 s: the queue after a step down is drained, and a step up is filled.
#[test]
fn steps_are_followed_without_losses() {
    let steps = (0..6).map(|step| (step * 5 * SECOND, if step % 2 == 0 { 12_000_000 } else { 4_000_000 }));
    let rate = RatePlan::Steps(StepsConfig { steps: steps.collect(), repeat_after_ns: None });
    let links = round_trip_links(routed("bottleneck", rate, DELAY_MS), DELAY_MS);
    let mut plan = plan(30, links, vec![flow("f", abc())]);
    plan.record.measure_from_ns = 5 * SECOND;
    let outcome = run(&plan, 1);
    assert!(utilisation(&outcome, 0) > 0.95, "{}", utilisation(&outcome, 0));
    assert_eq!(table(&outcome, "links").integers("dropped_packets_total")[0], 0);
}

#[test]
fn the_smaller_of_two_bottlenecks_limits_the_rate() {
    for (first, second) in [(12, 6), (6, 12), (8, 8)] {
        let links = vec![
            routed("first", mbps(first), DELAY_MS / 2.0),
            link("back", RatePlan::Unlimited, DELAY_MS),
            routed("second", mbps(second), DELAY_MS / 2.0),
        ];
        let path = FlowPlan { path: vec![0, 2], ..flow("f", abc()) };
        let mut plan = plan(40, links, vec![path]);
        plan.record.measure_from_ns = 10 * SECOND;
        let outcome = run(&plan, 1);
        let smaller = if first <= second { 0 } else { 2 };
        let expected = 0.98 + 1.0 / (first.min(second) as f64 * 1e6 / 12_000.0 * 0.1);
        let seen = utilisation(&outcome, smaller);
        assert!(seen > 0.95 && seen < expected + 0.005, "{first} and {second} Mbit/s: {seen} for {expected}");
    }
}

/// A bottleneck without ABC never ends accelerates: CUBIC's window limits the flow, and without it most
/// packets are lost.
#[test]
fn with_a_second_window_a_bottleneck_without_abc_is_shared() {
    let outcome = |second: &str| {
        let links = vec![
            routed("routed", mbps(100), 1.0),
            link("back", RatePlan::Unlimited, DELAY_MS),
            LinkPlan { queue: packets(100), ..link("foreign", mbps(12), DELAY_MS) },
        ];
        let abc = ControllerPlan::Declared(ComponentPlan::named("abc").with("second_window", second));
        let flows = [abc, cubic()].into_iter().enumerate().map(|(index, controller)| FlowPlan {
            path: vec![0, 2],
            ..flow(&format!("f{index}"), controller)
        });
        let mut plan = plan(60, links, flows.collect());
        plan.record.measure_from_ns = 20 * SECOND;
        run(&plan, 1)
    };
    let (held, free) = (outcome("cubic"), outcome("none"));
    let lost = |outcome: &Outcome| table(outcome, "links").integers("dropped_packets_total")[2];
    assert!(jain(&held) > 0.9, "{}", jain(&held));
    assert!(jain(&free) < 0.6, "{}", jain(&free));
    assert!(lost(&free) > 20 * lost(&held), "{} and {}", lost(&free), lost(&held));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let [one, two] = [steady(3, &abc()), steady(3, &abc())];
    assert_eq!(format!("{:?}", one.tables), format!("{:?}", two.tables));
}
