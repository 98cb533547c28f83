//! Accuracy of an emulation: rates and delays, measured by the kernels of its hosts. `make bench-emulator`
//! also runs the long measurements.

use std::fs;
use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use airpath_emu::{Emulated, Side};
use airpath_plan::*;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use crate::check::{assert_valid, check, report};
use crate::flood::flood;
use crate::support::*;

/// Start of the measurement in seconds: the queue is full by then.
const FROM_S: f64 = 0.5;

/// Sends datagrams over a link of one rate. Returns the rate counted by the receiver, in bit/s, and the
/// reasons not to trust it. The queue has space for the arrivals of 60 ms, so that a delayed sender does not
/// leave the link idle.
fn constant_rate(bps: u64, seconds: u64) -> Option<(f64, Vec<String>)> {
    let queue = (bps / 12_000 / 16).max(100);
    let links = vec![link("there", constant(bps), 5.0, queue), link("back", RatePlan::Unlimited, 5.0, 1000)];
    let emulation = emulation(&plan(seconds + 2, links, 1))?;
    // The count changes by whole packets, so those of a slow link are small.
    let size = if bps > 1_000_000 { 1500 } else { 500 };
    let to = FROM_S + seconds as f64;
    let (received, emulated) = flood(emulation, bps + bps / 4, size, Duration::from_secs_f64(to));
    let rate = received.rate(FROM_S, to);
    report(&format!("{:.0} Mbit/s: achieved {:.4}", bps as f64 / 1e6, rate / bps as f64), &emulated);
    Some((rate, emulated.validity.problems))
}

fn within(bps: u64, seconds: u64, share: f64) {
    check(|| {
        let (rate, problems) = constant_rate(bps, seconds)?;
        let error = rate / bps as f64 - 1.0;
        assert_valid(&problems);
        assert!(error.abs() < share, "{bps} bit/s: {:.3} % off", 100.0 * error);
        Some(())
    });
}

#[test]
fn one_mbps_within_one_percent() {
    within(1_000_000, 2, 0.01);
}

#[test]
fn ten_mbps_within_one_percent() {
    within(10_000_000, 2, 0.01);
}

#[test]
fn a_hundred_mbps_within_one_percent() {
    within(100_000_000, 2, 0.01);
}

#[test]
fn four_hundred_mbps_within_one_percent() {
    within(400_000_000, 2, 0.01);
}

#[test]
#[ignore = "long: make bench-emulator"]
fn one_to_four_hundred_mbps_within_one_percent_for_long() {
    for mbps in [1, 100, 400] {
        within(mbps * 1_000_000, 10, 0.01);
    }
}

/// Returns one-way delays over 20 ms, sorted: from the sender's clock just before sending to the timestamp of
/// the receiver's kernel. This measures only the emulator, not the time until an ordinary thread reads the
/// packet.
fn one_way_delays(probes: usize) -> Option<(Vec<f64>, Emulated)> {
    let links = vec![
        link("there", constant(100_000_000), 20.0, 1000),
        link("back", constant(100_000_000), 20.0, 1000),
    ];
    let emulation = emulation(&plan(120, links, 1))?;
    if emulation.scheduling().refused.is_empty() {
        let latency = fs::read("/dev/cpu_dma_latency").unwrap();
        assert_eq!(latency, 0_i32.to_ne_bytes(), "idle processors may take this many µs to wake up");
    }
    let near = socket(&emulation, Side::Senders, 0, 7000);
    let far = socket(&emulation, Side::Receivers, 0, 7);
    setsockopt(&far, ReceiveTimestampns, &true).unwrap();
    near.connect((Side::Receivers.address(0).unwrap(), 7)).unwrap();
    let mut delays = Vec::new();
    // If the delays are not complete after three times the expected time, the machine is busy.
    let last = emulation.clock().now().as_secs_f64() + 3.0 * 0.03 * probes as f64;
    while delays.len() < probes {
        let now = emulation.clock().now().as_secs_f64();
        assert!(now < last, "only {} of {probes} probes were sent without a delay", delays.len());
        let before = Clocks::now();
        near.send(&[1; 22]).unwrap();
        let sent = Clocks::now();
        let stamp = received_at(&far);
        // A sender that was delayed while sending does not know when it sent.
        if sent.steady - before.steady < 50e-6 && !Clocks::now().set_since(before) {
            delays.push(stamp - before.wall);
        }
        thread::sleep(Duration::from_millis(3));
    }
    delays.sort_by(f64::total_cmp);
    Some((delays, emulation.stop(None).unwrap()))
}

/// The clock of the kernel's packet timestamps, and one that cannot be set, in seconds.
#[derive(Clone, Copy)]
struct Clocks {
    wall: f64,
    steady: f64,
}

impl Clocks {
    fn now() -> Self {
        let read = |clock| Duration::from(clock_gettime(clock).unwrap()).as_secs_f64();
        Self { wall: read(ClockId::CLOCK_REALTIME), steady: read(ClockId::CLOCK_MONOTONIC) }
    }

    /// Returns whether the first clock was set since `before`: by more than its continuous correction (0.05
    /// %), and than the time between two readings.
    fn set_since(self, before: Self) -> bool {
        ((self.wall - before.wall) - (self.steady - before.steady)).abs() > 100e-6
    }
}

#[test]
fn clock_steps_are_detected_and_slewing_is_ignored() {
    let before = Clocks { wall: 1.7e9, steady: 500.0 };
    let after = |by: f64| Clocks { wall: 1.7e9 + 0.023 + by, steady: 500.023 };
    assert!(!after(0.0).set_since(before) && !after(0.0005 * 0.023).set_since(before));
    assert!(after(-0.002).set_since(before) && after(3600.0).set_since(before));
}

/// Reads a datagram; returns the time at which the kernel received it, in seconds since 1970 (to a quarter of
/// a microsecond).
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
    check(|| {
        let (delays, emulated) = one_way_delays(probes)?;
        let expected = 0.020 + 50.0 * 8.0 / 1e8;
        let median = delays[delays.len() / 2] - expected;
        let best = delays[0] - expected;
        report(
            &format!("20 ms: {:+.1} µs at the median, {:+.1} at best", 1e6 * median, 1e6 * best),
            &emulated,
        );
        assert!(best > -10e-6, "a packet came too early");
        assert_valid(&emulated.validity.problems);
        assert!(median.abs() < bound_s, "20 ms: off by {median} s at the median of {probes} probes");
        Some(())
    });
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
