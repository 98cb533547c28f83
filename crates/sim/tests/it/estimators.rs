//! ACK-rate estimators in runs: alongside a controller, and as part of one.

use crate::common::*;
use airpath_model::Duration;
use airpath_sim::plan::*;
use airpath_sim::{Outcome, Simulation};

fn filtered(sampler: SamplerConfig, filter: FilterConfig) -> AckRateConfig {
    AckRateConfig::Filtered { sampler, filter }
}

fn bilinear(virtual_samples: VirtualSamples) -> FilterConfig {
    FilterConfig::Bilinear { tau: Duration::from_secs(1), virtual_samples, start: Start::First }
}

/// Returns Westwood with this estimator.
fn westwood_over(estimator: &impl serde::Serialize) -> ControllerPlan {
    let estimator = serde_json::to_value(estimator).unwrap();
    ControllerPlan::Declared(ComponentPlan::named("westwood").with("estimator", estimator))
}

/// Returns every kind of estimator with a name.
fn estimators() -> Vec<EstimatorPlan> {
    let stability = FilterConfig::Stability { beta: 0.8, window: 8 };
    let stamps = |micros| SamplerConfig::ReceiverClock { resolution: Duration::from_micros(micros) };
    [
        ("westwood", filtered(SamplerConfig::PerAck, bilinear(VirtualSamples::Zero))),
        ("westwood-aa", filtered(SamplerConfig::RoundTrip, bilinear(VirtualSamples::Held))),
        (
            "westwood-3",
            filtered(SamplerConfig::PerAck, FilterConfig::TimeInvariant { alpha: 0.9, start: Start::First }),
        ),
        (
            "westwood-10ms",
            filtered(
                SamplerConfig::Interval { interval: Duration::from_millis(10) },
                FilterConfig::ZeroOrderHold { tau: Duration::from_secs(1), start: Start::First },
            ),
        ),
        ("westwood+", AckRateConfig::WestwoodPlus { ticks_per_second: 1000 }),
        ("sarbe-1us", filtered(stamps(1), stability)),
        ("sarbe-10ms", filtered(stamps(10_000), stability)),
        ("delivery-rate", filtered(SamplerConfig::DeliveryRate, FilterConfig::None)),
        (
            "packet-pair",
            filtered(
                SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_millis(1) },
                FilterConfig::Median { window: 9 },
            ),
        ),
    ]
    .map(|(name, estimator)| EstimatorPlan { name: name.to_owned(), estimator: estimator.into() })
    .into()
}

/// Returns a plan with one flow over 5 Mbit/s in both directions, 70 ms, a buffer of 30 packets, and
/// `reverse` flows in the opposite direction.
fn scenario(controller: &ControllerPlan, observed: bool, reverse: u64) -> Plan {
    let bottleneck = |name: &str| LinkPlan { queue: packets(30), ..link(name, mbps(5), 35.0) };
    let mut flows = vec![flow("f", controller.clone())];
    for index in 0..reverse {
        flows.push(FlowPlan {
            path: vec![1],
            reverse_path: vec![0],
            measured_at: 1,
            ..flow(&format!("reverse-{index}"), newreno())
        });
    }
    let mut plan = plan(60, vec![bottleneck("there"), bottleneck("back")], flows);
    if observed {
        plan.estimators = estimators();
        plan.flows[0].estimators = (0..plan.estimators.len() as u16).rev().collect();
    }
    plan
}

/// Returns the mean of the estimates from 20 s on, in Mbit/s.
fn mean_estimate(outcome: &Outcome, estimator: usize) -> f64 {
    let table = table(outcome, "flow_estimates");
    let rows = table.integers("estimator").iter().zip(table.reals("time_s")).zip(table.reals("estimate_bps"));
    let counted = rows.filter(|((which, time), _)| **which == estimator as i64 && **time > 20.0);
    let values: Vec<f64> = counted.map(|(_, value)| value / 1e6).collect();
    assert!(!values.is_empty(), "estimator {estimator} reported nothing");
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn passive_estimators_change_nothing() {
    for controller in [newreno(), cubic()] {
        let alone = run(&scenario(&controller, false, 1), 3);
        let observed = run(&scenario(&controller, true, 1), 3);
        for name in ["flows", "flow_events", "drops", "link_series"] {
            let (alone, observed) = (table(&alone, name), table(&observed, name));
            assert_eq!(format!("{alone:?}"), format!("{observed:?}"), "{name}");
        }
        assert_eq!(alone.flow_series, observed.flow_series);
        assert!(table(&alone, "flow_estimates").integers("flow").is_empty());
        assert!(!table(&observed, "flow_estimates").integers("flow").is_empty());
    }
}

/// A full link in one direction: 1460 of every 1500 bytes are payload, and every estimator measures it.
#[test]
fn without_reverse_traffic_every_estimator_reaches_the_rate() {
    let outcome = run(&scenario(&newreno(), true, 0), 3);
    let truth = 5.0 * 1460.0 / 1500.0;
    for (index, estimator) in estimators().iter().enumerate() {
        let mean = mean_estimate(&outcome, index + 1);
        assert!((mean / truth - 1.0).abs() < 0.05, "{}: {mean} of {truth} Mbit/s", estimator.name);
    }
}

/// Acknowledgments that queue behind data of the other direction arrive in bunches: per-ACK samples
/// overestimate, the same filter over anti-aliased samples does not, and the receiver's timestamps are not
/// affected.
#[test]
fn compressed_acknowledgments_mislead_single_samples_only() {
    let outcome = run(&scenario(&newreno(), true, 1), 3);
    let goodput = table(&outcome, "flows").integers("goodput_bytes")[0] as f64 * 8.0 / 60e6;
    let of = |name: &str| {
        let number = estimators().iter().position(|estimator| estimator.name == name).unwrap() + 1;
        mean_estimate(&outcome, number) / goodput
    };
    // GM, Fig. 5: "more than ten times".
    assert!(of("westwood-3") > 10.0, "{}", of("westwood-3"));
    assert!(of("westwood") > 1.5, "{}", of("westwood"));
    for name in ["westwood-aa", "westwood-10ms", "westwood+", "delivery-rate"] {
        assert!((of(name) - 1.0).abs() < 0.05, "{name}: {}", of(name));
    }
    // The data shares its link with the other direction's acknowledgments. Timestamps are as uneven as the
    // link served the data, and the mean of rates exceeds the rate of means.
    for name in ["sarbe-1us", "sarbe-10ms"] {
        assert!((1.0..1.5).contains(&of(name)) && of(name) < of("westwood"), "{name}: {}", of(name));
    }
}

/// After an outage of two seconds all waiting packets arrive: its timeouts were spurious, and their
/// reductions are undone.
#[test]
fn passive_estimators_do_not_hide_false_signals() {
    let outage = |observed| {
        let mut plan = scenario(&newreno(), observed, 0);
        let steps = vec![(0, 5_000_000), (10 * SECOND, 0), (12 * SECOND, 5_000_000)];
        plan.links[0].rate = RatePlan::Steps(StepsConfig { steps, repeat_after_ns: None });
        plan.links[0].queue = packets(1000);
        plan.flows[0].transport.as_mut().unwrap().receive_window_bytes = 100_000;
        plan.duration_ns = 20 * SECOND;
        run(&plan, 3)
    };
    let (alone, observed) = (outage(false), outage(true));
    let undone = table(&alone, "flow_events").integers("event").iter().filter(|event| **event == 3).count();
    assert!(undone > 0, "no timeout was undone");
    assert_eq!(alone.flow_series, observed.flow_series);
}

#[test]
fn a_controllers_estimate_is_recorded_and_equals_the_same_passive_estimator() {
    for name in ["westwood-aa", "westwood+"] {
        assert_own_equals_passive(name);
    }
}

fn assert_own_equals_passive(name: &str) {
    let place = estimators().iter().position(|one| one.name == name).unwrap();
    let own = &estimators()[place].estimator;
    let controller = westwood_over(own);
    let mut plan = scenario(&controller, true, 1);
    plan.record.estimate_samples = true;
    let outcome = run(&plan, 3);
    for name in ["flow_estimates", "estimate_samples"] {
        let table = table(&outcome, name);
        let of = |number: i64| -> Vec<(f64, f64)> {
            let rows = table.reals("time_s").iter().zip(table.reals("estimate_bps"));
            let rows = rows.zip(table.integers("estimator")).filter(|(_, which)| **which == number);
            rows.map(|((time, estimate), _)| (*time, *estimate)).collect()
        };
        assert!(of(0).len() > 100, "{name}");
        assert_eq!(of(0), of(place as i64 + 1), "{name}");
    }
    let table = table(&outcome, "flow_estimates");
    let kept = crate::common::table(&outcome, "estimate_samples").integers("flow").len();
    assert_eq!(table.integers("samples").iter().sum::<i64>(), kept as i64, "every sample is counted once");
}

/// The row of an interval summarizes its samples: their number, the largest, and the estimate after the last
/// of all so far. The same applies to files with pauses: the last acknowledgment of a file may be the only
/// event of an interval.
#[test]
fn rows_of_intervals_match_their_samples() {
    let mut plan = scenario(&newreno(), true, 1);
    plan.duration_ns = 6 * SECOND;
    plan.record.estimate_samples = true;
    rows_are_of_samples(&run(&plan, 3));
    let bytes = Draw::Constant { value: 20_000.0 };
    plan.flows[0].traffic = TrafficPlan::Repeated { bytes, pause_ns: Draw::Constant { value: 4e8 } };
    rows_are_of_samples(&run(&plan, 3));
}

fn rows_are_of_samples(outcome: &Outcome) {
    let (rows, samples) = (table(outcome, "flow_estimates"), table(outcome, "estimate_samples"));
    let [times, values, estimates] = ["time_s", "sample_bps", "estimate_bps"].map(|name| samples.reals(name));
    let of = |estimator| (0..times.len()).filter(move |&row| samples.integers("estimator")[row] == estimator);
    let series = outcome.flow_series.table();
    let mut silent = 0;
    for row in 0..rows.integers("flow").len() {
        let (end, estimator) = (rows.reals("time_s")[row], rows.integers("estimator")[row]);
        let within: Vec<usize> =
            of(estimator).filter(|&row| (end - 0.1..end).contains(&times[row])).collect();
        assert_eq!(rows.integers("samples")[row], within.len() as i64, "estimator {estimator} until {end} s");
        let largest = within.iter().map(|&row| values[row]).fold(f64::NAN, f64::max);
        let last = of(estimator).take_while(|&row| times[row] < end).last().unwrap();
        let expected = [largest, values[last], estimates[last]];
        let found = ["largest_sample_bps", "sample_bps", "estimate_bps"].map(|name| rows.reals(name)[row]);
        assert_eq!(
            found.map(f64::to_bits),
            expected.map(f64::to_bits),
            "estimator {estimator} until {end} s"
        );
        let active = series.reals("time_s").iter().zip(series.integers("flow"));
        let active = active.filter(|(_, flow)| **flow == 0).any(|(time, _)| (time - end).abs() < 1e-9);
        let heard = times.iter().any(|time| (end - 0.1..end).contains(time));
        assert!(active || heard, "a row without a reason until {end} s");
        silent += u64::from(within.is_empty());
    }
    assert!(silent > 0, "there are intervals without samples");
}

#[test]
fn estimators_without_their_inputs_are_rejected() {
    let mut plan = scenario(&newreno(), true, 0);
    let transport = plan.flows[0].transport.as_mut().unwrap();
    transport.timestamps = false;
    transport.spurious_timeout_undo = false;
    let message = Simulation::new(&plan, &[], 1).err().unwrap().to_string();
    assert!(message.contains("timestamps"), "{message}");

    let mut plan = scenario(&newreno(), true, 0);
    plan.flows[0].estimators = vec![99];
    assert!(Simulation::new(&plan, &[], 1).is_err());
    plan.flows[0].estimators = vec![0, 0];
    assert!(Simulation::new(&plan, &[], 1).is_err());
    plan.flows[0].estimators = vec![0];
    plan.estimators[0].estimator = AckRateConfig::WestwoodPlus { ticks_per_second: 0 }.into();
    let message = Simulation::new(&plan, &[], 1).err().unwrap().to_string();
    assert!(message.contains("ticks_per_second"), "{message}");
}
