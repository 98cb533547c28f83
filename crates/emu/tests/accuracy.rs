//! How exact an emulation is: rates and delays, by the clocks of those who use it.
//!
//! The short ones are ordinary tests; the long ones are ignored and run by `make bench-emulator`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stderr, reason = "a measurement is to be read")]

mod support;

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use airpath_emu::{Emulated, Side};
use airpath_sim::plan::*;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;

use support::*;

/// Says what was measured.
fn report(what: &str, emulated: &Emulated) {
    let lateness = emulated.validity.measured.lateness;
    eprintln!(
        "{what}; late mean {:.1} µs, p50 {:.1}, p99 {:.1}, worst {:.1}; gap {:.2} ms; {:?}, {:?}; {:?}",
        1e6 * lateness.mean_s,
        1e6 * lateness.p50_s,
        1e6 * lateness.p99_s,
        1e6 * lateness.max_s,
        1e3 * emulated.validity.measured.longest_gap_s,
        emulated.validity.measured.packets,
        emulated.validity.measured.scheduling,
        emulated.validity.problems,
    );
}

/// Datagrams over a link of one rate: what arrives by the receiver's count, in bit/s, and what the emulator says of
/// itself. The queue holds what comes within 60 ms, so that a sender that is kept waiting does not leave the link idle.
fn constant_rate(bps: u64, seconds: u64) -> Option<(f64, Emulated)> {
    let queue = (bps / 12_000 / 16).max(100);
    let links = vec![link("there", constant(bps), 5.0, queue), link("back", RatePlan::Unlimited, 5.0, 1000)];
    let emulation = emulation(&plan(seconds + 3, links, 1))?;
    let (received, emulated) = flood(emulation, bps + bps / 4, 1500, Duration::from_secs(seconds + 2));
    let rate = received.rate(1.0, 1.0 + seconds as f64);
    report(&format!("{:.0} Mbit/s: achieved {:.4}", bps as f64 / 1e6, rate / bps as f64), &emulated);
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
    skipped(format_args!("no run of four at {bps} bit/s was valid; the machine is too busy"));
}

#[test]
fn ten_mbps_within_one_percent() {
    within(10_000_000, 2, 0.01);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn one_and_a_hundred_mbps_within_one_percent() {
    within(1_000_000, 10, 0.01);
    within(100_000_000, 10, 0.01);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn four_hundred_mbps_within_one_percent() {
    within(400_000_000, 10, 0.01);
}

/// One-way delays over 20 ms, sorted: from the sender's clock just before it sends to the stamp that the receiver's
/// kernel puts on the packet. So only the emulator is measured, not when an ordinary thread gets to read.
fn one_way_delays(probes: usize) -> Option<(Vec<f64>, Emulated)> {
    let links = vec![
        link("there", constant(100_000_000), 20.0, 1000),
        link("back", constant(100_000_000), 20.0, 1000),
    ];
    let emulation = emulation(&plan(60, links, 1))?;
    let near = socket(&emulation, Side::Senders, 0, 7000);
    let far = socket(&emulation, Side::Receivers, 0, 7);
    setsockopt(&far, ReceiveTimestampns, &true).unwrap();
    near.connect((Side::Receivers.address(0).unwrap(), 7)).unwrap();
    let mut delays = Vec::new();
    while delays.len() < probes {
        let before = SystemTime::now();
        near.send(&[1; 22]).unwrap();
        let sent_within = before.elapsed().unwrap();
        let stamp = received_at(&far);
        // Whoever was held up while sending does not know when it sent.
        if sent_within < Duration::from_micros(50) {
            delays.push(stamp - before.duration_since(UNIX_EPOCH).unwrap().as_secs_f64());
        }
        thread::sleep(Duration::from_millis(3));
    }
    delays.sort_by(f64::total_cmp);
    Some((delays, emulation.stop(None).unwrap()))
}

/// Reads a datagram; gives when the kernel received it, in seconds since 1970 (to a quarter of a microsecond).
fn received_at(socket: &UdpSocket) -> f64 {
    let mut buffer = [0; 64];
    let mut space = nix::cmsg_space!(TimeSpec);
    let mut slices = [IoSliceMut::new(&mut buffer)];
    let message =
        recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut space), MsgFlags::empty()).unwrap();
    let stamp = message.cmsgs().unwrap().find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp),
        _ => None,
    });
    Duration::from(stamp.unwrap()).as_secs_f64()
}

fn delays_within(probes: usize, bound_s: f64) {
    for _ in 0..4 {
        let Some((delays, emulated)) = one_way_delays(probes) else { return };
        let expected = 0.020 + 50.0 * 8.0 / 1e8;
        let median = delays[delays.len() / 2] - expected;
        let best = delays[0] - expected;
        report(
            &format!("20 ms: {:+.1} µs at the median, {:+.1} at best", 1e6 * median, 1e6 * best),
            &emulated,
        );
        assert!(best > -10e-6, "a packet came too early");
        if emulated.validity.is_valid() {
            assert!(median.abs() < bound_s, "20 ms: off by {median} s at the median of {probes} probes");
            return;
        }
    }
    skipped("no run of four was valid; the machine is too busy");
}

#[test]
fn twenty_milliseconds_within_a_fifth_of_one() {
    delays_within(30, 0.2e-3);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn twenty_milliseconds_within_a_fifth_of_one_for_long() {
    delays_within(300, 0.2e-3);
}

/// A rate log from 1 to 20 Mbit/s with a fresh rate each second is followed within 1 % in each second.
#[test]
#[ignore = "long: make bench-emulator"]
fn a_moving_rate_is_followed_each_second() {
    let mbps = [10, 14, 17, 20, 15, 1, 5, 2, 6, 4, 8, 19];
    let steps = (0..).zip(mbps).map(|(second, rate)| (second * SECOND, rate * 1_000_000)).collect();
    for _ in 0..4 {
        let rate = RatePlan::Steps { steps: Vec::clone(&steps), repeat_after_ns: None };
        let links = vec![link("there", rate, 5.0, 400), link("back", RatePlan::Unlimited, 5.0, 1000)];
        let Some(emulation) = emulation(&plan(mbps.len() as u64 + 1, links, 1)) else { return };
        let (received, emulated) = flood(emulation, 25_000_000, 500, Duration::from_secs(mbps.len() as u64));
        let error = |second: usize| {
            let from = second as f64 + 0.005; // the link's delay
            received.rate(from, from + 1.0) / (mbps[second] as f64 * 1e6) - 1.0
        };
        let errors: Vec<f64> = (1..mbps.len() - 1).map(error).collect();
        report(&format!("1-20 Mbit/s by the second: {errors:.4?}"), &emulated);
        if emulated.validity.is_valid() {
            assert!(errors.iter().all(|error| error.abs() < 0.01), "{errors:?}");
            return;
        }
    }
    skipped("no run of four was valid; the machine is too busy");
}
