//! How exact an emulation is: rates and delays, by the clocks of those who use it.
//!
//! The short ones are ordinary tests; the long ones are ignored and run by `make bench-emulator`. What other work on the
//! machine has spoilt, as the emulation itself finds, is measured again. When nothing comes of that the long ones fail, and
//! the short ones are skipped if the machine is to blame.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stderr, reason = "a measurement is to be read")]

mod support;

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use airpath_emu::{Emulated, LATE, LATE_SHARE_BOUND, Scheduling, Side};
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

/// What comes of a test when no run is valid.
#[derive(Clone, Copy)]
enum Otherwise {
    /// It is skipped if the machine holds up even a thread that does nothing, and fails if not.
    Skipped,
    /// It fails: whoever runs it wants the result.
    Fails,
}

/// The first valid run of four; `None`, and the reason is said, where there are no hosts or the machine is too busy.
fn valid<T>(otherwise: Otherwise, measure: impl Fn() -> Option<(T, Emulated)>) -> Option<T> {
    let mut problems = Vec::new();
    for _ in 0..4 {
        let (found, emulated) = measure()?;
        if emulated.validity.is_valid() {
            return Some(found);
        }
        problems = emulated.validity.problems;
    }
    let share = held_up();
    let busy = share > LATE_SHARE_BOUND / 4.0 && matches!(otherwise, Otherwise::Skipped);
    let held_up = format!("a thread that does nothing is held up for {:.2} % of the time", 100.0 * share);
    assert!(busy, "no run of four was valid; {held_up}; the last run: {problems:?}");
    skipped(format_args!("no run of four was valid, and {held_up}"));
    None
}

/// The share of two seconds for which a thread that is granted what a link thread is, and works and rests like one, finds
/// itself away from its processor for more than [`LATE`] at a time.
fn held_up() -> f64 {
    let watch = || {
        Scheduling::obtain(true, true);
        let (began, mut away) = (Instant::now(), Duration::ZERO);
        let (mut looked, mut woke) = (began, began);
        while began.elapsed() < Duration::from_secs(2) {
            let now = Instant::now();
            let gap = now - looked;
            away += if gap.as_nanos() > u128::from(LATE.as_nanos()) { gap } else { Duration::ZERO };
            looked = now;
            if now - woke > Duration::from_micros(500) {
                thread::sleep(Duration::from_micros(50));
                woke = Instant::now();
            }
        }
        away.as_secs_f64() / began.elapsed().as_secs_f64()
    };
    thread::spawn(watch).join().unwrap()
}

fn within(bps: u64, seconds: u64, share: f64, otherwise: Otherwise) {
    let Some(rate) = valid(otherwise, || constant_rate(bps, seconds)) else { return };
    let error = rate / bps as f64 - 1.0;
    assert!(error.abs() < share, "{bps} bit/s: {:.3} % off", 100.0 * error);
}

#[test]
fn ten_mbps_within_one_percent() {
    within(10_000_000, 2, 0.01, Otherwise::Skipped);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn one_and_a_hundred_mbps_within_one_percent() {
    within(1_000_000, 10, 0.01, Otherwise::Fails);
    within(100_000_000, 10, 0.01, Otherwise::Fails);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn four_hundred_mbps_within_one_percent() {
    within(400_000_000, 10, 0.01, Otherwise::Fails);
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

fn delays_within(probes: usize, bound_s: f64, otherwise: Otherwise) {
    let median = valid(otherwise, || {
        let (delays, emulated) = one_way_delays(probes)?;
        let expected = 0.020 + 50.0 * 8.0 / 1e8;
        let median = delays[delays.len() / 2] - expected;
        let best = delays[0] - expected;
        report(
            &format!("20 ms: {:+.1} µs at the median, {:+.1} at best", 1e6 * median, 1e6 * best),
            &emulated,
        );
        assert!(best > -10e-6, "a packet came too early");
        Some((median, emulated))
    });
    let Some(median) = median else { return };
    assert!(median.abs() < bound_s, "20 ms: off by {median} s at the median of {probes} probes");
}

#[test]
fn twenty_milliseconds_within_a_fifth_of_one() {
    delays_within(30, 0.2e-3, Otherwise::Skipped);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn twenty_milliseconds_within_a_fifth_of_one_for_long() {
    delays_within(300, 0.2e-3, Otherwise::Fails);
}

/// A rate log from 1 to 20 Mbit/s with a fresh rate each second is followed within 1 % in each second.
#[test]
#[ignore = "long: make bench-emulator"]
fn a_moving_rate_is_followed_each_second() {
    let mbps = [10, 14, 17, 20, 15, 1, 5, 2, 6, 4, 8, 19];
    let steps = (0..).zip(mbps).map(|(second, rate)| (second * SECOND, rate * 1_000_000)).collect();
    let errors = valid(Otherwise::Fails, || {
        let rate = RatePlan::Steps { steps: Vec::clone(&steps), repeat_after_ns: None };
        let links = vec![link("there", rate, 5.0, 400), link("back", RatePlan::Unlimited, 5.0, 1000)];
        let emulation = emulation(&plan(mbps.len() as u64 + 1, links, 1))?;
        let (received, emulated) = flood(emulation, 25_000_000, 500, Duration::from_secs(mbps.len() as u64));
        let error = |second: usize| {
            let from = second as f64 + 0.005; // the link's delay
            received.rate(from, from + 1.0) / (mbps[second] as f64 * 1e6) - 1.0
        };
        let errors: Vec<f64> = (1..mbps.len() - 1).map(error).collect();
        report(&format!("1-20 Mbit/s by the second: {errors:.4?}"), &emulated);
        Some((errors, emulated))
    });
    let Some(errors) = errors else { return };
    assert!(errors.iter().all(|error| error.abs() < 0.01), "{errors:?}");
}
