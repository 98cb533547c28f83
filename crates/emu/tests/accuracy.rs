//! How exact an emulation is: rates and delays, by the clocks of those who use it.
//!
//! The short ones are ordinary tests; the long ones are ignored and run by `make bench-emulator`.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a measurement is to be read")]

mod support;

use std::thread;
use std::time::{Duration, Instant};

use airpath_emu::{Emulated, Side};
use airpath_sim::plan::*;

use support::*;

/// Datagrams over a link of one rate: what arrives by the receiver's clock, in bit/s, and what the emulator says of itself.
fn constant_rate(bps: u64, seconds: u64) -> Option<(f64, Emulated)> {
    let links = vec![link("there", constant(bps), 5.0, 200), link("back", RatePlan::Unlimited, 5.0, 1000)];
    let emulation = emulation(&plan(seconds + 2, links, 1))?;
    let (received, emulated) = flood(emulation, bps + bps / 4, 1500, Duration::from_secs(seconds + 1));
    let rate = received.rate(0.5, seconds as f64);
    let lateness = emulated.validity.lateness;
    eprintln!(
        "{:.0} Mbit/s: achieved {:.4}; late mean {:.1} µs, p50 {:.1}, p99 {:.1}, worst {:.1}; gap {:.2} ms; {:?}, {:?}; {:?}",
        bps as f64 / 1e6,
        rate / bps as f64,
        1e6 * lateness.mean_s,
        1e6 * lateness.p50_s,
        1e6 * lateness.p99_s,
        1e6 * lateness.max_s,
        1e3 * emulated.validity.longest_gap_s,
        emulated.validity.packets,
        emulated.validity.scheduling,
        emulated.validity.problems,
    );
    Some((rate, emulated))
}

/// Repeats a measurement that other work on the machine has spoilt, as the emulation itself found.
fn within(bps: u64, seconds: u64, share: f64) {
    for _ in 0..4 {
        let Some((rate, emulated)) = constant_rate(bps, seconds) else { return };
        if emulated.validity.is_valid() {
            let error = rate / bps as f64 - 1.0;
            assert!(error.abs() < share, "{bps} bit/s: {:.3} % off", 100.0 * error);
            return;
        }
    }
    eprintln!("skipped: no run of four at {bps} bit/s was valid; the machine is too busy");
}

#[test]
fn ten_mbps_within_one_percent() {
    within(10_000_000, 2, 0.01);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn constant_rates_within_one_percent() {
    for bps in [1_000_000, 10_000_000, 100_000_000, 400_000_000] {
        within(bps, 10, 0.01);
    }
}
