//! Logs of QUIC: our own, against the run that wrote them; those of other stacks, in their dialects; damaged ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

#[path = "../../sim/tests/common/mod.rs"]
mod common;
#[path = "common/estimators.rs"]
mod estimators;

use std::collections::BTreeMap;
use std::io::Cursor;

use airpath_model::AckEvent;
use airpath_replay::{QlogAnalysis, QlogObserver, analyse_qlog, analyse_qlog_observed};
use airpath_sim::plan::*;
use airpath_sim::{Outcome, flow_logs};
use common::*;
use estimators::options;

/// A log as a file: a header, then the events.
pub(crate) fn file(events: &[u8]) -> Vec<u8> {
    let header = "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"a run\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n";
    [header.as_bytes(), events].concat()
}

fn read(bytes: &[u8]) -> QlogAnalysis {
    analyse_qlog(Cursor::new(bytes.to_vec()), &options()).unwrap()
}

/// Estimates after each acknowledgment, byte/s, with the time since the first event.
#[derive(Default)]
struct Replayed(Vec<(f64, Vec<Option<f64>>)>);

impl QlogObserver for Replayed {
    fn on_ack(&mut self, event: &AckEvent, estimates: &[Option<f64>]) {
        self.0.push((event.now.as_secs_f64(), estimates.to_vec()));
    }
}

/// Estimators as a plan has them.
fn planned() -> Vec<EstimatorPlan> {
    let (tau_ns, start) = (SECOND, StartPlan::First);
    let bilinear = |virtual_samples| FilterPlan::Bilinear { tau_ns, virtual_samples, start };
    let hold = FilterPlan::ZeroOrderHold { tau_ns, start };
    let ten = SamplerPlan::Interval { interval_ns: 10 * MILLISECOND };
    let pair = SamplerPlan::BackToBack { acks: 2, spacing_ns: MILLISECOND };
    let filtered = |sampler, filter| AckRatePlan::Filtered { sampler, filter };
    [
        ("westwood", filtered(SamplerPlan::PerAck, bilinear(VirtualSamplesPlan::Zero))),
        ("westwood-zoh", filtered(SamplerPlan::PerAck, hold)),
        ("westwood-10ms", filtered(ten, bilinear(VirtualSamplesPlan::Zero))),
        ("samples", filtered(SamplerPlan::PerAck, FilterPlan::None)),
        ("packet-pair", filtered(pair, FilterPlan::Median { window: 9 })),
        ("westwood-aa", filtered(SamplerPlan::RoundTrip, bilinear(VirtualSamplesPlan::Held))),
        ("delivery-rate", filtered(SamplerPlan::DeliveryRate, FilterPlan::None)),
    ]
    .map(|(name, estimator)| EstimatorPlan { name: name.to_owned(), estimator })
    .into()
}

/// One flow over 5 Mbit/s with losses.
fn logged(loss: f64, acknowledge_each: bool, seed: u64) -> (Plan, Outcome) {
    let bottleneck = LinkPlan { loss, queue: packets(60), ..link("there", mbps(5), 35.0) };
    let links = vec![bottleneck, link("back", RatePlan::Unlimited, 35.0)];
    let mut plan = plan(30, links, vec![flow("watched", cubic())]);
    plan.estimators = planned();
    plan.flows[0].estimators = (0..plan.estimators.len() as u16).collect();
    plan.record.interval_ns = 10 * MILLISECOND;
    plan.record.qlog = true;
    if acknowledge_each {
        plan.flows[0].transport.as_mut().unwrap().delayed_ack_segments = 1;
    }
    let outcome = run(&plan, seed);
    (plan, outcome)
}

/// How far the estimates of a run and of its log are apart at most, as a part of the run's, by name.
fn distances(plan: &Plan, outcome: &Outcome) -> (BTreeMap<String, f64>, QlogAnalysis) {
    let named = |plan: EstimatorPlan| {
        airpath_replay::NamedEstimator::new(plan.name, plan.estimator.config()).unwrap()
    };
    let options = airpath_replay::Options {
        estimators: planned().into_iter().map(named).collect(),
        ..airpath_replay::Options::default()
    };
    let mut replayed = Replayed::default();
    let log = file(&flow_logs(plan, outcome)[0].events);
    let analysis = analyse_qlog_observed(Cursor::new(log), &options, &mut replayed).unwrap();
    let table = table(outcome, "flow_estimates");
    let (times, which, live) =
        (table.reals("time_s"), table.integers("estimator"), table.reals("estimate_bps"));
    let mut distances = BTreeMap::new();
    for row in (0..times.len()).filter(|&row| which[row] > 0 && !live[row].is_nan()) {
        let number = which[row] as usize - 1; // 0 is the controller's own
        let last_before = |end: usize| end.checked_sub(1).and_then(|last| replayed.0[last].1[number]);
        // An acknowledgment that arrives just when an interval ends may count for this interval or for the next.
        let with = replayed.0.partition_point(|(time, _)| *time <= times[row]);
        let without = replayed.0.partition_point(|(time, _)| *time < times[row]);
        let distance = [last_before(with), last_before(without)]
            .into_iter()
            .flatten()
            .map(|estimate| (estimate * 8.0 - live[row]).abs() / live[row].max(1.0))
            .fold(f64::INFINITY, f64::min);
        let worst = distances.entry(plan.estimators[number].name.clone()).or_insert(0.0_f64);
        *worst = worst.max(distance);
    }
    assert_eq!(distances.len(), plan.estimators.len());
    (distances, analysis)
}

#[test]
fn our_own_log_gives_the_estimates_of_the_run() {
    for (loss, acknowledge_each) in [(0.0, true), (0.0, false), (0.003, true), (0.003, false)] {
        let (plan, outcome) = logged(loss, acknowledge_each, 5);
        let (distances, analysis) = distances(&plan, &outcome);
        eprintln!(
            "{loss} {acknowledge_each} {distances:#?} {:?} {:?}",
            analysis.flows[0].lost_packets, analysis.flows[0].rtt_min_ns
        );
    }
}
