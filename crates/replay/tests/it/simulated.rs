//! Compares estimates from the capture (pcapng) of a simulated run with the estimators of the run itself.

#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

use std::collections::BTreeMap;
use std::io::Cursor;
use std::net::SocketAddr;

use crate::plans::*;
use airpath_model::{AckEvent, Duration};
use airpath_replay::{
    AckObserver, EcnUse, FlowResult, NamedEstimator, Options, Vantage, analyse, analyse_observed,
};
use airpath_sim::plan::*;
use airpath_sim::{Column, Outcome};

fn filtered(sampler: SamplerConfig, filter: FilterConfig) -> AckRateConfig {
    AckRateConfig::Filtered { sampler, filter }
}

/// Returns estimators as in a plan, by the names of the registry.
fn estimators() -> Vec<(&'static str, AckRateConfig)> {
    let (tau, start) = (Duration::from_secs(1), Start::First);
    let bilinear = |virtual_samples| FilterConfig::Bilinear { tau, virtual_samples, start };
    let hold = FilterConfig::ZeroOrderHold { tau, start };
    let low_pass = FilterConfig::TimeInvariant { alpha: 0.9, start };
    let pair = SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_millis(1) };
    let triple = SamplerConfig::BackToBack { acks: 3, spacing: Duration::from_millis(1) };
    let ten = SamplerConfig::Interval { interval: Duration::from_millis(10) };
    let clock = SamplerConfig::ReceiverClock { resolution: Duration::from_millis(1) };
    let coarse = SamplerConfig::ReceiverClock { resolution: Duration::from_millis(10) };
    let stability = FilterConfig::Stability { beta: 0.8, window: 8 };
    let two_state = FilterConfig::TwoState { good: 0.9, bad: 0.6, timed: false };
    [
        ("westwood", filtered(SamplerConfig::PerAck, bilinear(VirtualSamples::Zero))),
        ("westwood-aa", filtered(SamplerConfig::RoundTrip, bilinear(VirtualSamples::Held))),
        ("westwood-10ms", filtered(ten, bilinear(VirtualSamples::Zero))),
        ("westwood+", AckRateConfig::WestwoodPlus { ticks_per_second: 1000 }),
        ("westwood-zoh", filtered(SamplerConfig::PerAck, hold)),
        ("westwood-zoh-aa", filtered(SamplerConfig::RoundTrip, hold)),
        ("westwood-ti", filtered(SamplerConfig::PerAck, low_pass)),
        ("westwood-ti-aa", filtered(SamplerConfig::RoundTrip, low_pass)),
        ("dynapara", filtered(SamplerConfig::PerAck, two_state)),
        ("dynapara:samples=round-trip", filtered(SamplerConfig::RoundTrip, two_state)),
        ("sarbe", filtered(clock, stability)),
        ("sarbe:resolution=10ms", filtered(coarse, stability)),
        ("samples", filtered(SamplerConfig::PerAck, FilterConfig::None)),
        ("packet-pair", filtered(pair, FilterConfig::Median { window: 9 })),
        ("hoe", filtered(triple, FilterConfig::First)),
        ("delivery-rate", filtered(SamplerConfig::DeliveryRate, FilterConfig::None)),
    ]
    .into()
}

/// Runs one flow over 5 Mbit/s in both directions with losses, and one flow in the opposite direction;
/// packets are captured at the entrances of `links`.
fn observed_at(links: [usize; 2], seed: u64) -> Outcome {
    let bottleneck = |name: &str, loss| LinkPlan { loss, queue: packets(60), ..link(name, mbps(5), 35.0) };
    // Links without delay: packets reach the two endpoints at their entrances.
    let end = |name: &str| link(name, RatePlan::Unlimited, 0.0);
    let links_of_plan =
        vec![bottleneck("there", 0.003), bottleneck("back", 0.0), end("sender"), end("receiver")];
    let mut watched = FlowPlan { path: vec![0, 3], reverse_path: vec![1, 2], ..flow("watched", cubic()) };
    // Half of the runs have time for a handshake before the data.
    watched.start_ns = Draw::Constant { value: (seed % 2 * 500 * MILLISECOND) as f64 };
    let transport = watched.transport.as_mut().unwrap();
    (transport.mss_bytes, transport.header_bytes, transport.ack_bytes) = (1448, 52, 52);
    // The window fits the buffer: acknowledgments wait behind its packets, and none is lost.
    let mut other =
        FlowPlan { path: vec![1], reverse_path: vec![0], measured_at: 1, ..flow("other", newreno()) };
    other.transport.as_mut().unwrap().receive_window_bytes = 45 * 1460;
    let mut plan = plan(40, links_of_plan, vec![watched, other]);
    plan.estimators = estimators()
        .into_iter()
        .map(|(name, estimator)| EstimatorPlan { name: name.to_owned(), estimator: estimator.into() })
        .collect();
    plan.flows[0].estimators = (0..plan.estimators.len() as u16).collect();
    plan.record.interval_ns = 10 * MILLISECOND;
    plan.record.capture = links.to_vec();
    run(&plan, seed)
}

/// The estimates of the watched flow after each acknowledgment, bit/s.
#[derive(Default)]
struct Replayed(Vec<(f64, Vec<Option<f64>>)>);

impl AckObserver for Replayed {
    fn on_ack(&mut self, source: SocketAddr, _: SocketAddr, event: &AckEvent, estimates: &[Option<f64>]) {
        if source.ip().to_string() == "10.0.0.0" {
            let bps = estimates.iter().map(|estimate| estimate.map(|estimate| estimate * 8.0)).collect();
            self.0.push((event.now.as_secs_f64(), bps));
        }
    }
}

/// Returns the largest difference between the estimates of the run and of its capture, relative to the run's,
/// by name.
fn distances(outcome: &Outcome) -> (BTreeMap<String, f64>, FlowResult) {
    let plans = estimators();
    let (replayed, watched) = replay(outcome);
    let mut distances = BTreeMap::new();
    let table = table(outcome, "flow_estimates");
    let (times, flows) = (table.reals("time_s"), table.integers("flow"));
    let (which, live) = (table.integers("estimator"), table.reals("estimate_bps"));
    let mut rows = 0;
    for row in (0..times.len()).filter(|&row| flows[row] == 0 && !live[row].is_nan()) {
        let number = which[row] as usize - 1; // 0 is the controller's own
        // An acknowledgment that arrives exactly at the end of an interval may count for this interval or for
        // the next.
        let last_before = |end: usize| end.checked_sub(1).and_then(|last| replayed.0[last].1[number]);
        let with = replayed.0.partition_point(|(time, _)| *time <= times[row]);
        let without = replayed.0.partition_point(|(time, _)| *time < times[row]);
        let distance = [last_before(with), last_before(without)]
            .into_iter()
            .flatten()
            .map(|estimate| (estimate - live[row]).abs() / live[row].max(1.0))
            .fold(f64::INFINITY, f64::min);
        let worst = distances.entry(plans[number].0.to_owned()).or_insert(0.0_f64);
        *worst = worst.max(distance);
        rows += 1;
    }
    assert!(rows > 10_000 && distances.len() == plans.len(), "{rows} {distances:?}");
    (distances, watched)
}

fn replay(outcome: &Outcome) -> (Replayed, FlowResult) {
    let named = |(name, config)| NamedEstimator::new(name, config).unwrap();
    let options = Options { estimators: estimators().into_iter().map(named).collect(), ..Options::default() };
    let mut replayed = Replayed::default();
    let capture = Cursor::new(outcome.capture.clone().unwrap());
    let analysis = analyse_observed(capture, &options, &mut replayed).unwrap();
    assert_eq!(analysis.report.stopped, None);
    // Times are relative to the first packet of the capture.
    replayed.0.iter_mut().for_each(|row| row.0 = ((row.0 * 1e9).round() + analysis.start_ns as f64) / 1e9);
    let watched = analysis.flows.into_iter().find(|flow| flow.source.ip().to_string() == "10.0.0.0").unwrap();
    assert!(watched.retransmitted > 10 && !watched.loss_runs.is_empty(), "{watched:?}");
    (replayed, watched)
}

/// Returns the retransmissions counted by the run.
fn retransmissions(outcome: &Outcome) -> u64 {
    let column = table_column(outcome, "retransmitted_packets");
    let Some(Column::I64(values)) = column else { panic!("the run counts retransmissions") };
    values[0] as u64
}

fn table_column<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a Column> {
    table(outcome, "flows").columns.iter().find(|(column, _)| *column == name).map(|(_, column)| column)
}

/// Both sides compute the same values in the same order.
const ROUNDING: f64 = 1e-12;

#[test]
fn a_capture_at_the_sender_reproduces_the_estimates_of_the_run() {
    for seed in 1..=8 {
        let outcome = observed_at([0, 2], seed);
        let (mut distances, flow) = distances(&outcome);
        if seed % 2 == 1 {
            distances.remove("westwood+"); // its ticks count from the start of the run, which is not in this capture
        }
        assert_eq!((flow.vantage, flow.retransmitted), (Vantage::Sender, retransmissions(&outcome)));
        assert!(distances.values().all(|worst| *worst <= ROUNDING), "{seed}: {distances:?}");
    }
}

#[test]
fn a_capture_at_the_receiver_reproduces_estimates_from_its_clock() {
    let outcome = observed_at([3, 1], 3);
    let (replayed, flow) = replay(&outcome);
    assert_eq!(flow.vantage, Vantage::Receiver);
    // A retransmission lost on its way to the receiver is not in this capture.
    assert!(flow.retransmitted <= retransmissions(&outcome));
    let missing = missing(&outcome, &replayed);
    assert!(missing["sarbe"] <= 0.0, "{missing:?}");
    assert!(
        missing["westwood"] > 0.1 && missing["westwood-zoh"] > 0.1,
        "they need the arrivals at the sender: {missing:?}"
    );
}

/// The handshake that a capture adds provides the window scale and does not change any round trip: neither if
/// it precedes the data by one, nor if the flow starts with the run.
#[test]
fn a_handshake_determines_the_window_and_no_false_round_trip_time() {
    for (start_ms, timestamps) in [(0, true), (0, false), (500, true), (500, false)] {
        for (links, vantage) in [([0, 2], Vantage::Sender), ([3, 1], Vantage::Receiver)] {
            let end = |name: &str| link(name, RatePlan::Unlimited, 0.0);
            let way = |name: &str| LinkPlan { queue: packets(500), ..link(name, mbps(100), 35.0) };
            let mut flow =
                FlowPlan { path: vec![0, 3], reverse_path: vec![1, 2], ..flow("watched", cubic()) };
            flow.start_ns = Draw::Constant { value: (start_ms * MILLISECOND) as f64 };
            let transport = flow.transport.as_mut().unwrap();
            (transport.timestamps, transport.spurious_timeout_undo) = (timestamps, timestamps);
            (transport.header_bytes, transport.ack_bytes) = if timestamps { (52, 52) } else { (40, 40) };
            (transport.mss_bytes, transport.receive_window_bytes) = (1448, 200_001);
            let mut plan =
                plan(5, vec![way("there"), way("back"), end("sender"), end("receiver")], vec![flow]);
            plan.record.capture = links.to_vec();
            let capture = Cursor::new(run(&plan, 1).capture.unwrap());
            let analysis = analyse(capture, &Options::default()).unwrap();
            let [flow] = &analysis.flows[..] else { panic!("one flow") };
            assert!(flow.handshake && flow.backward_times == 0);
            // Rounded up to whole units of four bytes.
            assert_eq!((flow.window_scale, flow.window_max, flow.mss), (Some(2), 200_004, 1448));
            assert_eq!((flow.sack, flow.timestamps, flow.ecn), (true, timestamps, EcnUse::Off));
            // Without timestamps, only the handshake reveals the response time of the sender.
            if timestamps || start_ms > 0 {
                assert_eq!(flow.vantage, vantage, "{start_ms} ms");
            }
            // Two full packets of 0.12 ms, because every second one is acknowledged.
            let least = flow.rtt_min_ns.unwrap() as f64 / 1e6;
            let expected =
                if vantage == Vantage::Sender || timestamps || start_ms > 0 { 70.12..70.4 } else { 0.0..0.4 };
            assert!(expected.contains(&least), "{least} ms, {start_ms}, {timestamps}, {vantage:?}");
        }
    }
}

/// Returns the share of the run's estimates that do not occur in the replay in the same order, by name. The
/// times cannot be compared: the other end of the path has its own clock.
fn missing(outcome: &Outcome, replayed: &Replayed) -> BTreeMap<String, f64> {
    let table = table(outcome, "flow_estimates");
    let rows =
        table.integers("flow").iter().zip(table.integers("estimator")).zip(table.reals("estimate_bps"));
    let rows: Vec<(i64, f64)> = rows
        .filter(|((flow, _), live)| **flow == 0 && !live.is_nan())
        .map(|((_, which), live)| (*which - 1, *live))
        .collect();
    let share = |number: usize| {
        let mut place = 0;
        let live: Vec<f64> = rows.iter().filter(|row| row.0 == number as i64).map(|row| row.1).collect();
        let absent = live.iter().filter(|live| {
            let same = |row: &(f64, Vec<Option<f64>>)| {
                row.1[number].is_some_and(|estimate| (estimate - *live).abs() <= ROUNDING * live.abs())
            };
            let found = replayed.0[place..].iter().position(same);
            place += found.unwrap_or(0);
            found.is_none()
        });
        absent.count() as f64 / live.len() as f64
    };
    estimators().into_iter().enumerate().map(|(number, (name, _))| (name.to_owned(), share(number))).collect()
}
