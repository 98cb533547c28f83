//! Equivalence of the integer controllers in the BPF programs and the floating-point controllers in Rust: the
//! same events give the same windows within the error that `docs/reference/linux/hosts.md` states.

use airpath_linux::native::{self, Kind, NativeController};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::support::replay::{
    Told, difference, disturbed_windows, first_ack, native_windows, pacing, reference_windows, reno_windows,
    script,
};

/// Largest payload of a packet, and the packets of the first window.
const START: (u32, u32) = (1448, 10);

/// Feeds the same events to both controllers and returns the largest difference of their windows.
fn largest_difference(kind: Kind, told: &[Told]) -> f64 {
    let (mss, segments) = START;
    let native = NativeController::new(kind, mss * segments, mss);
    difference(&native_windows(native, told), &reference_windows(kind, mss, segments, told))
}

/// Returns whether the Rust controller itself computes other windows if round-trip times are nanoseconds
/// longer. A decision is then on an edge, and different arithmetic may decide otherwise.
fn is_sensitive(kind: Kind, told: &[Told], allowed: f64) -> bool {
    let (mss, segments) = START;
    let as_is = reference_windows(kind, mss, segments, told);
    difference(&disturbed_windows(kind, mss, segments, told, 3), &as_is) > allowed
}

/// Checks 500 lists of events from a fixed seed: all lists that are not on an edge give windows within
/// `allowed` of each other, and 97 % of them within `usual`.
fn holds(kind: Kind, usual: f64, allowed: f64) {
    let mut runner = TestRunner::deterministic();
    let mut differences = Vec::new();
    for _ in 0..500 {
        let told = script(kind).new_tree(&mut runner).unwrap().current();
        if !is_sensitive(kind, &told, allowed) {
            differences.push(largest_difference(kind, &told));
        }
    }
    let worst = differences.iter().copied().fold(0.0, f64::max);
    let unusual = differences.iter().filter(|&&difference| difference > usual).count();
    let judged = differences.len();
    println!(
        "{kind:?}: of {judged} lists {unusual} differ by more than {usual:.0e}, the worst by {worst:.2e}"
    );
    assert!(judged >= 450, "{kind:?}: only {judged} lists can be judged");
    assert!(unusual * 100 <= judged * 3, "{kind:?}: {unusual} of {judged} lists differ by more than {usual}");
    assert!(worst <= allowed, "{kind:?}: windows differ by {worst}, allowed is {allowed}");
}

#[test]
fn xcp() {
    holds(Kind::Xcp, 1e-9, 1e-9);
}

#[test]
fn vcp_with_loss_differentiation() {
    holds(Kind::Vcp, 1e-9, 1e-9);
}

/// A mark signals congestion to VCP regardless of the routers' codes: VCP reacts to the loss after 16 echoes.
#[test]
fn losses_with_echoed_marks_count_as_congestion() {
    for marked in [false, true] {
        let (mss, segments) = START;
        let rtt = native::RoundTrip { latest: 20_000, smoothed: 20_000, minimum: 20_000, sample: 20_000 };
        let mut told: Vec<Told> = (0..16)
            .map(|count| {
                let now = 1_000_000 + count * 1000;
                let ack = native::AckEvent { now, acked: mss, advance: mss, mss, rtt, ..Default::default() };
                Told::Ack(native::AckEvent { feedback: 1, window_limited: true, marked, ..ack })
            })
            .collect();
        let flight_size = segments * mss;
        let loss = native::CongestionEvent { now: 1_020_000, flight_size, mss, rtt, ..Default::default() };
        told.push(Told::Congestion(loss));
        let windows = native_windows(NativeController::new(Kind::Vcp, mss * segments, mss), &told);
        assert_eq!(windows[16] < windows[15] * 3 / 4, marked, "{windows:?}");
        let difference = difference(&windows, &reference_windows(Kind::Vcp, mss, segments, &told));
        assert!(difference < 1e-9, "{difference}");
    }
}

/// If the ceiling is just above the window, the cube root in K amplifies the last of the filter's 32 digits.
#[test]
fn cubic_ebe() {
    holds(Kind::CubicEbe, 1e-5, 2e-3);
}

/// Between devices of one machine round trips take about 100 us, in which a cubic function of seconds hardly
/// grows. Only the Reno-friendly window grows, by a third of a segment each round trip.
#[test]
fn cubic_ebe_grows_as_reno_over_round_trips_of_microseconds() {
    const RTT: u32 = 100;
    let (mss, segments) = (1448, 480);
    let rtt = native::RoundTrip { latest: RTT, smoothed: RTT, minimum: RTT, sample: RTT };
    let ack = |now, acked| {
        let amount = acked * mss;
        let event = native::AckEvent { now, acked: amount, advance: amount, mss, rtt, ..Default::default() };
        Told::Ack(native::AckEvent { window_limited: true, ..event })
    };
    let loss =
        native::CongestionEvent { now: 1000, flight_size: segments * mss, mss, rtt, ..Default::default() };
    let mut told = vec![ack(900, 0), Told::Congestion(loss)];
    // Eight acknowledgments of 60 segments in each round trip for 60 ms, then two cycles of the filter with
    // one acknowledgment each 1 ms.
    told.extend((0..600 * 8).map(|count| ack(1000 + u64::from(count * RTT / 8), 60)));
    let after_60_ms = told.len() - 1;
    told.extend((60..460).map(|millis| ack(1000 + 1000 * millis, 60)));
    let native = native_windows(NativeController::new(Kind::CubicEbe, mss * segments, mss), &told);
    let window = native[after_60_ms] as f64 / f64::from(mss);
    println!("{window:.1} segments after 600 round trips");
    assert!((window - (0.8 * 480.0 + 600.0 / 3.0)).abs() < 10.0, "{window}");
    let difference = difference(&native, &reference_windows(Kind::CubicEbe, mss, segments, &told));
    assert!(difference < 1e-5, "{difference}");
}

#[test]
fn westwood() {
    holds(Kind::Westwood, 1e-9, 1e-9);
}

#[test]
fn sarbe() {
    holds(Kind::Sarbe, 1e-9, 1e-9);
}

/// Returns an acknowledgment of two segments without feedback from a router.
fn silent_ack(now: u64) -> Told {
    let mss = START.0;
    let rtt = native::RoundTrip { latest: 20_000, smoothed: 20_000, minimum: 20_000, sample: 20_000 };
    let amount = 2 * mss;
    let ack = native::AckEvent { now, acked: amount, advance: amount, mss, rtt, ..Default::default() };
    Told::Ack(native::AckEvent { window_limited: true, ..ack })
}

/// A spurious timeout of the Reno fallback is undone.
#[test]
fn false_timeouts_without_routers_are_undone() {
    let (mss, segments) = START;
    for kind in [Kind::Xcp, Kind::Vcp] {
        let mut told: Vec<Told> = (0..60).map(|count| silent_ack(1_000_000 + count * 1000)).collect();
        let timeout = |consecutive| {
            let flight_size = 100 * mss;
            let event = native::CongestionEvent { now: 1_100_000, flight_size, mss, ..Default::default() };
            Told::Congestion(native::CongestionEvent { signal: 2, consecutive, ..event })
        };
        told.extend([timeout(1), timeout(2), Told::Spurious]);
        let windows = native_windows(NativeController::new(kind, mss * segments, mss), &told);
        assert_eq!(windows[59..], [144_800, 1448, 1448, 144_800], "{kind:?}");
    }
}

/// The Reno fallback for silent routers matches the simulator's Reno from the first loss on.
#[test]
fn silent_routers() {
    let (mss, segments) = START;
    let mut runner = TestRunner::deterministic();
    for _ in 0..500 {
        let mut told = script(Kind::Westwood).new_tree(&mut runner).unwrap().current();
        told[0] = Told::Congestion(native::CongestionEvent {
            now: 1_000_000,
            flight_size: segments * mss,
            mss,
            ..Default::default()
        });
        let reference = reno_windows(mss, segments, &told);
        for kind in [Kind::Xcp, Kind::Vcp] {
            let windows = native_windows(NativeController::new(kind, mss * segments, mss), &told);
            assert_eq!(windows, reference, "{kind:?}: {told:?}");
        }
    }
}

/// VCP paces small windows over long round trips, and only those, as the Rust controller does.
#[test]
fn pacing_of_small_windows() {
    use airpath_model::Pacing;
    let mut paced = 0;
    for segments in 1..100 {
        for rtt in [30_000, 250_000, 900_000, 4_000_000] {
            let told = [first_ack(rtt)];
            let (native, reference) = pacing(segments, &told);
            paced += u32::from(native.is_some());
            match (native, reference) {
                (None, Pacing::FromWindow) => {}
                (Some(spacing), Pacing::At(rate)) => {
                    let expected = 1448.0 / rate.bytes_per_second() * 1e6;
                    // Rates are whole bits per second, spacings whole microseconds.
                    let allowed = 1.0 + expected / rate.as_bps_f64();
                    assert!((f64::from(spacing) - expected).abs() <= allowed, "{spacing} us, not {expected}");
                }
                other => panic!("{segments} segments, {rtt} us: {other:?}"),
            }
        }
    }
    assert!(paced > 30, "{paced}");
}
