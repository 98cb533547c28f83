//! Traces: a host's kernel counts in each second the data that the trace offers in it.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use airpath_emu::{LATE, Options};
use airpath_plan::Input;
use airpath_plan::*;
use airpath_trace::{Format, ReadOptions, Trace, detect, read};

use crate::check::{assert_valid, check, report};
use crate::flood::{Received, flood};
use crate::support::*;

/// Propagation delay in seconds.
const DELAY_S: f64 = 0.005;

/// Returns the bytes that a trace offers between two times in seconds, before it repeats.
fn offered(trace: &Trace, from: f64, to: f64) -> f64 {
    let [from, to] = [from, to].map(|at| (at * 1e9) as u64);
    match trace {
        Trace::Opportunities { instants_ns, opportunity_bytes } => {
            let within = instants_ns.iter().filter(|instant| (from..to).contains(*instant));
            (within.count() as u64 * opportunity_bytes) as f64
        }
        Trace::Rates { points, end_ns } => {
            let ends = points.iter().skip(1).map(|(start, _)| *start).chain([*end_ns]);
            let bits = points.iter().zip(ends).map(|(&(start, bps), end)| {
                let held = to.min(end).saturating_sub(from.max(start));
                bps as f64 * held as f64 / 1e9
            });
            bits.sum::<f64>() / 8.0
        }
    }
}

/// Returns the relative difference between the bytes received and those offered in a second. A burst within a
/// millisecond of an end of the second may count on either side, because packets may be late by this time.
fn error(trace: &Trace, received: &Received, second: u64) -> f64 {
    let [from, to] = [second, second + 1].map(|second| received.since(second as f64 + DELAY_S));
    let carried = to.bytes - from.bytes;
    let (from, to) = (from.at - DELAY_S, to.at - DELAY_S);
    let margin = match trace {
        Trace::Opportunities { .. } => LATE.as_secs_f64(),
        Trace::Rates { .. } => 0.0,
    };
    let [least, most] = [margin, -margin].map(|inwards| offered(trace, from + inwards, to - inwards));
    (carried - carried.clamp(least, most)) / offered(trace, from, to)
}

/// Floods a link whose rate is a trace, parsed from the bytes of its file, with datagrams of `size` bytes at
/// 40 Mbit/s, and requires each whole second after the first to be within 1 %.
fn assert_followed(file: &[u8], format: Format, size: usize, seconds: u64) {
    assert_eq!(detect(file), Ok(format));
    let trace = read(file, &ReadOptions::default()).unwrap();
    let rate = match trace {
        Trace::Opportunities { .. } => RatePlan::Opportunities(OpportunitiesConfig { trace: 0, once: false }),
        Trace::Rates { .. } => RatePlan::RateLog(RateLogConfig { trace: 0, once: false }),
    };
    let links = vec![link("there", rate, 1e3 * DELAY_S, 1000), link("back", RatePlan::Unlimited, 5.0, 1000)];
    let plan = plan(seconds + 1, links, 1);
    check(|| {
        let emulation = emulation_with(&plan, &[Arc::new(Input::from(&trace))], &Options::default())?;
        let (received, emulated) = flood(emulation, 40_000_000, size, Duration::from_secs(seconds));
        let errors: Vec<f64> = (1..seconds).map(|second| error(&trace, &received, second)).collect();
        report(&format!("{format} by the second: {errors:.4?}"), &emulated);
        assert_valid(&emulated.validity.problems);
        assert!(errors.iter().all(|error| error.abs() < 0.01), "errors by the second: {errors:?}");
        Some(())
    });
}

/// Returns a rate log of two columns, seconds and Mbit/s, with a row for each half second.
fn rate_log(mbps: &[f64]) -> String {
    let mut file = String::new();
    for (row, mbps) in mbps.iter().enumerate() {
        writeln!(file, "{:.1} {mbps}", 0.5 * row as f64).unwrap();
    }
    file
}

/// Returns delivery opportunities in bursts of 7 ms that add up to these Mbit/s in each second; none within
/// 10 ms of its ends, so that the count of a second is exact.
fn opportunities(mbps: &[u64]) -> String {
    let mut file = String::new();
    for (second, mbps) in mbps.iter().enumerate() {
        let count = mbps * 1_000_000 / (8 * airpath_trace::OPPORTUNITY_BYTES);
        for number in 0..count {
            writeln!(file, "{}", 1000 * second as u64 + 10 + number * 980 / count / 7 * 7).unwrap();
        }
    }
    file
}

#[test]
fn a_rate_log_is_followed_each_second() {
    let file = rate_log(&[10.0, 12.5, 20.0, 17.3, 1.0, 1.0, 14.6, 3.2, 5.75, 8.4]);
    assert_followed(file.as_bytes(), Format::SecondsMbps, 500, 5);
}

#[test]
fn delivery_opportunities_are_matched_each_second() {
    // One second longer than the measurement: the last line is the period, after which the trace repeats.
    let file = opportunities(&[10, 20, 1, 14, 5, 10]);
    assert_followed(file.as_bytes(), Format::Mahimahi, 1500, 5);
}

#[test]
fn a_shipped_link_is_followed_each_second() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/airpath/links/lte.down");
    assert_followed(&std::fs::read(file).unwrap(), Format::Mahimahi, 1500, 4);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn a_rate_log_is_followed_each_second_for_long() {
    let mbps = [10.0, 14.0, 17.0, 20.0, 15.0, 1.0, 5.0, 2.0, 6.0, 4.0, 8.0, 19.0];
    let file = rate_log(&mbps.map(|mbps| [mbps, mbps]).concat());
    assert_followed(file.as_bytes(), Format::SecondsMbps, 500, 12);
}
