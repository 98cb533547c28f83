use airpath_model::{Duration, NullProbe, RttEstimate};

use super::*;
use crate::Fixed;

const MSS: Bytes = Bytes::new(1000);
const RTT: Duration = Duration::from_millis(100);

fn abc() -> Abc {
    Abc::new(AbcConfig::default(), None, MSS * 10, MSS).unwrap()
}

fn ack(mark: AbcMark, in_flight: u64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.acked = MSS;
    event.mss = MSS;
    event.in_flight_before = MSS * in_flight;
    event.window_limited = true;
    event.rtt = RttEstimate { latest: RTT, smoothed: RTT * 2, variation: Duration::ZERO, minimum: RTT };
    event.path = PathHeader::Abc(mark);
    event
}

/// Tells the mark with as much in flight as is allowed; the window in packets.
fn told(controller: &mut Abc, mark: AbcMark) -> f64 {
    let in_flight = controller.control().window.get() / MSS.get();
    controller.on_ack(&ack(mark, in_flight), &mut NullProbe);
    controller.window / MSS.as_f64()
}

fn signal(kind: CongestionSignal, consecutive: u32) -> CongestionEvent {
    let mut event = CongestionEvent::at(Timestamp::ZERO, kind);
    event.mss = MSS;
    event.consecutive = consecutive;
    event
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} for {right}");
}

#[test]
fn marks_move_the_window_by_a_packet_and_the_additive_increase() {
    let mut controller = abc();
    close(told(&mut controller, AbcMark::Accelerate), 11.1);
    close(told(&mut controller, AbcMark::Brake), 10.1 + 1.0 / 11.1);
    // An acknowledgment of three packets counts as three.
    let mut three = ack(AbcMark::Brake, 10);
    three.acked = MSS * 3;
    let before = controller.window / MSS.as_f64();
    controller.on_ack(&three, &mut NullProbe);
    close(controller.window / MSS.as_f64(), before - 3.0 + 3.0 / before);
}

/// With f accelerates among all marks the window rests where 2 f + 1/w = 1.
#[test]
fn the_window_rests_where_increase_and_marks_are_even() {
    for every in [11_u32, 21, 41] {
        // In `every` marks, (every − 1) / 2 accelerates: f = (1 − 1/every) / 2, so that w is `every`.
        let mut controller = abc();
        let mut sum = 0.0;
        for _ in 0..2000 {
            for mark in 0..every {
                let mark = if mark % 2 == 1 { AbcMark::Accelerate } else { AbcMark::Brake };
                sum += told(&mut controller, mark) / f64::from(2000 * every);
            }
        }
        // A mark moves it by one packet, so its mean is no nearer than that.
        assert!((sum - f64::from(every)).abs() < 1.0, "{sum} packets for {every}");
    }
}

#[test]
fn brakes_stop_at_the_floor_and_do_not_lift_a_smaller_window() {
    let mut controller = abc();
    for _ in 0..100 {
        told(&mut controller, AbcMark::Brake);
    }
    assert!((5.0..6.3).contains(&(controller.window / 1000.0)), "{}", controller.window);
    controller.window = 2000.0;
    close(told(&mut controller, AbcMark::Brake), 2.5);
    let config = AbcConfig { minimum_window: 1.0, additive_increase: 0.0, ..AbcConfig::default() };
    let mut low = Abc::new(config, None, MSS * 10, MSS).unwrap();
    for _ in 0..20 {
        told(&mut low, AbcMark::Brake);
    }
    close(low.window, 1000.0);
}

#[test]
fn the_window_is_at_most_twice_what_is_in_flight_and_grows_only_when_used() {
    let mut controller = abc();
    controller.on_ack(&ack(AbcMark::Accelerate, 4), &mut NullProbe);
    close(controller.window, 10_000.0);
    controller.on_ack(&ack(AbcMark::Accelerate, 5), &mut NullProbe);
    close(controller.window, 10_000.0);
    controller.on_ack(&ack(AbcMark::Accelerate, 6), &mut NullProbe);
    close(controller.window, 11_100.0);
    let mut unused = ack(AbcMark::Accelerate, 11);
    unused.window_limited = false;
    controller.on_ack(&unused, &mut NullProbe);
    close(controller.window, 11_100.0);
    unused.path = PathHeader::Abc(AbcMark::Brake);
    controller.on_ack(&unused, &mut NullProbe);
    assert!(controller.window < 10_300.0);
}

#[test]
fn packets_leave_at_two_windows_in_the_newest_round_trip() {
    let mut controller = abc();
    assert_eq!(controller.control().pacing, Pacing::FromWindow);
    told(&mut controller, AbcMark::Accelerate);
    // 2 · 11.1 packets in 100 ms; the window is whole bytes.
    assert_eq!(controller.control().pacing, Pacing::At(Rate::from_bps(2 * 11_100 * 8 * 10)));
}

#[test]
fn a_loss_changes_nothing_and_after_a_timeout_the_window_doubles() {
    let mut controller = abc();
    for kind in [CongestionSignal::Loss, CongestionSignal::EcnCe] {
        controller.on_congestion(&signal(kind, 0), &mut NullProbe);
        close(controller.window, 10_000.0);
    }
    controller.on_congestion(&signal(CongestionSignal::Timeout, 1), &mut NullProbe);
    close(controller.window, 1000.0);
    close(told(&mut controller, AbcMark::Accelerate), 2.0);
    controller.on_congestion(&signal(CongestionSignal::Timeout, 2), &mut NullProbe);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    close(controller.window, 10_000.0);
}

#[test]
fn what_is_no_mark_changes_nothing() {
    let mut controller = abc();
    let mut none = ack(AbcMark::Accelerate, 10);
    none.path = PathHeader::None;
    let mut duplicate = ack(AbcMark::Brake, 10);
    duplicate.acked = Bytes::ZERO;
    for event in [none, duplicate] {
        controller.on_ack(&event, &mut NullProbe);
        close(controller.window, 10_000.0);
    }
}

#[test]
fn the_smaller_of_two_windows_counts() {
    for packets in [4, 40] {
        let second = Fixed::new(MSS * packets, None, MSS).unwrap();
        let mut controller = Abc::new(AbcConfig::default(), Some(Box::new(second)), MSS * 10, MSS).unwrap();
        assert_eq!(controller.control().window, MSS * packets.min(10));
        // Marks go on to move the other one, up to twice what is in flight.
        for _ in 0..100 {
            told(&mut controller, AbcMark::Accelerate);
        }
        assert_eq!(controller.control().window, MSS * packets);
        assert!(controller.window <= 1000.0 * (2 * packets).max(10) as f64);
    }
}

#[test]
fn it_asks_for_accelerates_and_needs_their_echo() {
    let mut controller = abc();
    let asked = controller.on_sent(&SendEvent::at(Timestamp::ZERO, MSS), &mut NullProbe);
    assert_eq!(asked, PathHeader::Abc(AbcMark::Accelerate));
    let needs = controller.requirements();
    assert!(needs.pacing && needs.path_feedback && needs.window_in_recovery);
}

#[test]
fn impossible_parameters_are_refused() {
    let good = AbcConfig::default();
    for config in [
        AbcConfig { additive_increase: -1.0, ..good },
        AbcConfig { minimum_window: 0.5, ..good },
        AbcConfig { minimum_window: f64::NAN, ..good },
        AbcConfig { pacing_gain: 0.0, ..good },
    ] {
        assert!(Abc::new(config, None, MSS * 10, MSS).is_err(), "{config:?}");
    }
    assert!(Abc::new(good, None, Bytes::new(999), MSS).is_err());
    assert!(Abc::new(good, None, MSS, Bytes::ZERO).is_err());
}
