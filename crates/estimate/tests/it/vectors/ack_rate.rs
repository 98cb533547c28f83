//! The vector files of the ACK-rate estimators.

use airpath_estimate::{
    Filter, FilterConfig, Sample, Sampler, SamplerConfig, Stability, Start, VirtualSamples, WestwoodPlus,
};
use airpath_model::{AckEvent, Bytes, Duration, Timestamp};
use serde_json::Value;

use super::{Tally, list, number, read, text};

/// GM's filters (2), (3) and (6) over single and anti-aliased samples, with both initial states.
#[test]
fn gm_filters() {
    let Some(file) = read("gm_filters.json") else { return };
    let tau = Duration::from_micros(file["tau_us"].as_u64().unwrap());
    let mut tally = Tally::default();
    for case in list(&file["cases"]) {
        let start = match text(&case["init"]) {
            "first" => Start::First,
            "zero" => Start::Zero,
            other => panic!("no beginning {other}"),
        };
        let window = case["antialias_rtt_us"].as_u64().map(Duration::from_micros);
        let acks = list(&file["inputs"][text(&case["input"])]);
        let stride = case["stride"].as_u64().unwrap() as usize;
        for (name, filter) in gm_filters_by_name(tau, start) {
            let Some(expected) = case[name].as_array() else { continue };
            let outputs = estimates(window, filter, acks);
            let outputs: Vec<f64> = outputs.into_iter().skip(stride - 1).step_by(stride).collect();
            let label = format!("{} {window:?} {start:?} {name}", text(&case["input"]));
            tally.hold_exactly(&format!("length of {label}"), outputs.len() as f64, expected.len() as f64);
            for (i, (output, expected)) in outputs.iter().zip(expected).enumerate() {
                let expected = number(expected);
                tally.hold(&format!("{i} of {label}"), *output, expected, 1e-9 * expected.abs());
            }
        }
    }
    tally.finish("gm_filters.json");
}

/// SARBE's samples on the receiver's clock, each quantity of its stability filter, and a plain exponential
/// mean.
#[test]
fn sarbe() {
    let Some(file) = read("sarbe.json") else { return };
    let tolerance = |expected: f64| 1e-9 * expected.abs();
    let mut tally = Tally::default();
    for case in list(&file["cases"]) {
        let resolution = Duration::from_micros(1);
        let mut sampler = Sampler::new(SamplerConfig::ReceiverClock { resolution }).unwrap();
        let mut filter = Stability::new(0.8, 8).unwrap();
        let mut rows = list(&case["out"]).iter();
        for (i, ack) in list(&case["acks"]).iter().enumerate() {
            // The acknowledgments arrive in this order at arbitrary times: only their timestamps count.
            let mut event = ack_event(i as u64, ack[1].as_u64().unwrap());
            event.receiver_time = Some(micros(ack[0].as_u64().unwrap()));
            let Some(sample) = sampler.on_ack(event.advance, &event) else { continue };
            let step = filter.update(sample.bandwidth);
            let row = rows.next().expect("a row for each sample");
            let values =
                [i as f64, sample.bandwidth, step.instability, step.largest, step.alpha, step.estimate];
            for (column, value) in values.into_iter().enumerate() {
                let expected = number(&row[column]);
                let label = format!("column {column} at {i} of {}", text(&case["name"]));
                tally.hold(&label, value, expected, tolerance(expected));
            }
        }
        assert!(rows.next().is_none(), "{}: rows without a sample", text(&case["name"]));
    }
    let ewma = &file["ewma"];
    if !ewma.is_null() {
        let filter = FilterConfig::TimeInvariant { alpha: number(&ewma["gain"]), start: Start::First };
        let mut filter = Filter::new(filter).unwrap();
        for (i, x) in list(&ewma["x"]).iter().enumerate() {
            let sample = Sample { bandwidth: number(x), interval: Duration::ZERO };
            let expected = number(&ewma["y"][i]);
            tally.hold(
                &format!("exponential mean {i}"),
                filter.update(sample),
                expected,
                tolerance(expected),
            );
        }
    }
    tally.finish("sarbe.json");
}

/// Linux's integer arithmetic: both filters, the smallest RTT and the resulting window, for each
/// acknowledgment.
#[test]
fn westwood_plus() {
    let Some(file) = read("westwood_plus.json") else { return };
    let mut tally = Tally::default();
    for case in list(&file["cases"]) {
        let name = text(&case["name"]);
        let mut westwood = WestwoodPlus::new(1000).unwrap();
        for (i, ack) in list(&case["acks"]).iter().enumerate() {
            let [at, amount, rtt] = [0, 1, 2].map(|column| ack[column].as_u64().unwrap());
            let mut event = ack_event(0, amount);
            event.now = micros(1000 * at);
            event.rtt_sample = Some(Duration::from_millis(rtt));
            event.mss = Bytes::new(1448);
            westwood.on_ack(&event);
            if i == 0 {
                continue;
            }
            let estimate = westwood.bandwidth().unwrap_or(0.0) / 1e3;
            let minimum_rtt = westwood.minimum_rtt().unwrap().as_nanos() / 1_000_000;
            let window = (estimate as u64 * minimum_rtt / 1448).max(2);
            let values = [westwood.once_filtered() / 1e3, estimate, minimum_rtt as f64, window as f64];
            for (column, value) in values.into_iter().enumerate() {
                let expected = number(&case["out"][i - 1][column]);
                tally.hold_exactly(&format!("column {column} at {i} of {name}"), value, expected);
            }
        }
    }
    tally.finish("westwood_plus.json");
}

fn gm_filters_by_name(tau: Duration, start: Start) -> [(&'static str, FilterConfig); 6] {
    let bilinear = |virtual_samples| FilterConfig::Bilinear { tau, virtual_samples, start };
    let short = Duration::from_millis(100);
    [
        ("gm2_tau1s", FilterConfig::ZeroOrderHold { tau, start }),
        ("gm2_tau0.1s", FilterConfig::ZeroOrderHold { tau: short, start }),
        ("gm3_alpha0.9", FilterConfig::TimeInvariant { alpha: 0.9, start }),
        ("gm6_none", bilinear(VirtualSamples::None)),
        ("gm6_zeros", bilinear(VirtualSamples::Zero)),
        ("gm6_hold", bilinear(VirtualSamples::Held)),
    ]
}

/// Returns every output over the acknowledgments. Reads the filter itself: without virtual samples its output
/// can be negative, which an estimator never returns.
fn estimates(window: Option<Duration>, filter: FilterConfig, acks: &[Value]) -> Vec<f64> {
    let sampler = window.map_or(SamplerConfig::PerAck, |interval| SamplerConfig::Interval { interval });
    let mut sampler = Sampler::new(sampler).unwrap();
    let mut filter = Filter::new(filter).unwrap();
    let mut events: Vec<AckEvent> =
        acks.iter().map(|ack| ack_event(ack[0].as_u64().unwrap(), ack[1].as_u64().unwrap())).collect();
    // Only a later acknowledgment completes the last instant.
    events.push(ack_event(acks.last().unwrap()[0].as_u64().unwrap() + 1, 0));
    events
        .iter()
        .filter_map(|event| sampler.on_ack(event.advance, event))
        .map(|sample| filter.update(sample))
        .collect()
}

fn ack_event(now_us: u64, amount: u64) -> AckEvent {
    let mut event = AckEvent::at(micros(now_us));
    event.acked = Bytes::new(amount);
    event.advance = Bytes::new(amount);
    event
}

fn micros(us: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_micros(us)
}
