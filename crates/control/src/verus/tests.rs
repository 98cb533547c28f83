//! Verus' epochs, losses and slow start.

use airpath_model::NullProbe;

use super::*;

const MSS: Bytes = Bytes::new(1000);

fn verus() -> Verus {
    Verus::new(VerusConfig::default(), MSS * 10, MSS).unwrap()
}

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

fn send(verus: &mut Verus, ms: u64, in_flight: u64) {
    let mut event = SendEvent::at(at(ms), MSS);
    (event.mss, event.in_flight) = (MSS, MSS * in_flight);
    verus.on_sent(&event, &mut NullProbe);
}

fn acknowledge(verus: &mut Verus, ms: u64, rtt: u64, in_flight: u64) {
    let mut event = AckEvent::at(at(ms));
    (event.acked, event.mss, event.in_flight) = (MSS, MSS, MSS * in_flight);
    event.rtt_sample = Some(Duration::from_millis(rtt));
    event.rtt.smoothed = Duration::from_millis(rtt);
    verus.on_ack(&event, &mut NullProbe);
}

fn signal(verus: &mut Verus, ms: u64, signal: CongestionSignal) {
    let mut event = CongestionEvent::at(at(ms), signal);
    event.mss = MSS;
    event.rtt.smoothed = Duration::from_millis(40);
    verus.on_congestion(&event, &mut NullProbe);
}

/// Returns a sender after slow start with a curve of 39.8 ms plus 0.5 ms for each segment, a target delay of
/// 65 ms, and 50 packets in flight.
fn steady() -> Verus {
    let mut verus = verus();
    for window in 1..=100 {
        verus.curve.add(window, 0.0398 + 0.0005 * window as f64);
    }
    verus.slow_start = false;
    verus.curve.fit();
    (verus.target, verus.minimum, verus.mean) = (0.065, 0.04, 0.0401);
    (verus.in_flight, verus.before, verus.largest) = (MSS * 50, Some(0.065), Some(0.065));
    verus
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
}

#[test]
fn the_target_delay_falls_while_delays_grow_or_are_too_long() {
    for (before, largest, expected) in [
        (0.065, 0.065, 0.067),  // neither
        (0.065, 0.0651, 0.064), // growing
        (0.25, 0.2, 0.063),     // more than 6 × 40 ms
        (0.23, 0.2, 0.067),     // less
    ] {
        let mut verus = steady();
        (verus.before, verus.largest) = (Some(before), Some(largest));
        verus.begin_epoch(at(1000));
        assert_close(verus.target, expected);
        assert_close(verus.before.unwrap(), 0.2 * before + 0.8 * largest);
        assert_close(verus.window, libm::floor((expected - 0.0398) / 0.0005));
    }
}

#[test]
fn the_target_delay_is_at_least_the_smallest_and_then_nothing_leaves() {
    let mut verus = steady();
    (verus.target, verus.before) = (0.041, Some(0.3));
    verus.begin_epoch(at(1000));
    assert_close(verus.target, 0.04);
    assert_eq!(verus.budget, Bytes::ZERO);
    (verus.in_flight, verus.before) = (MSS, Some(0.3));
    verus.begin_epoch(at(1005));
    assert_close(verus.minimum, 0.05);
}

#[test]
fn an_epoch_without_arrivals_has_the_delay_of_the_silence() {
    let mut verus = steady();
    (verus.largest, verus.last_arrival) = (None, at(900));
    verus.begin_epoch(at(1000));
    assert_close(verus.target, 0.064);
    assert_close(verus.before.unwrap(), 0.2 * 0.065 + 0.8 * 0.1);
}

/// 40.1 ms are nine epochs: 54 − 50 × 7/8 = 10.25. One epoch: 54 − 50.
#[test]
fn an_epoch_sends_its_part_of_the_window() {
    let mut verus = steady();
    verus.begin_epoch(at(1000));
    assert_close(verus.window, 54.0);
    assert_eq!(verus.budget, MSS * 10);
    assert_eq!(verus.control().window, MSS * 10, "no more than the initial window and what arrived");
    verus.delivered = MSS * 100;
    assert_eq!(verus.control().window, MSS * 60);
    send(&mut verus, 1001, 51);
    acknowledge(&mut verus, 1002, 65, 50);
    assert_eq!(verus.control().window, MSS * 59, "acknowledgments do not add to the budget");
    verus.mean = 0.004;
    (verus.window, verus.in_flight) = (54.0, MSS * 50);
    assert_close(verus.packets(), 4.0);
}

#[test]
fn a_loss_leaves_a_share_of_the_window_with_which_the_packet_left() {
    let mut verus = steady();
    verus.window = 90.0;
    verus.history.record(at(960), 80);
    verus.history.record(at(998), 90);
    signal(&mut verus, 1000, CongestionSignal::Loss);
    assert_close(verus.window, 56.0);
    assert_close(verus.target, 0.0398 + 0.0005 * 56.0);
    signal(&mut verus, 1001, CongestionSignal::Loss);
    assert_close(verus.window, 56.0);
    let known = verus.curve.delay(80.0);
    acknowledge(&mut verus, 1002, 41, 49); // left at 961 ms with a window of 80
    assert_close(verus.window, 56.0 + 1.0 / 56.0);
    verus.curve.fit();
    assert_eq!(verus.curve.delay(80.0), known, "delays of the old window do not count");
    assert!(verus.losing);
    verus.history.record(at(1003), 50);
    acknowledge(&mut verus, 1044, 41, 49);
    assert!(!verus.losing);
}

/// After the first reduction, the transport reports no signal until all losses are repaired.
#[test]
fn a_loss_of_a_packet_of_the_reduced_window_reduces_it_again() {
    let mut verus = steady();
    verus.history.record(at(960), 80);
    let mut event = AckEvent::at(at(1000));
    (event.mss, event.in_flight, event.newly_lost) = (MSS, MSS * 50, MSS);
    event.rtt.smoothed = Duration::from_millis(40);
    verus.window = 80.0;
    verus.on_ack(&event, &mut NullProbe);
    assert_close(verus.window, 56.0);
    verus.history.record(at(1001), 50);
    acknowledge(&mut verus, 1042, 41, 49);
    event.now = at(1042);
    verus.on_ack(&event, &mut NullProbe);
    assert_close(verus.window, 35.0);
}

#[test]
fn slow_start_ends_at_a_loss_in_a_window_above_20_or_at_half_a_second() {
    let mut small = verus();
    (small.window, small.delivered) = (20.0, MSS * 100);
    send(&mut small, 0, 20);
    signal(&mut small, 40, CongestionSignal::Loss);
    assert_eq!((small.phase(), small.control().window), (Phase::SlowStart, MSS * 14));
    let mut large = verus();
    (large.window, large.delivered) = (40.0, MSS * 100);
    send(&mut large, 0, 40);
    signal(&mut large, 40, CongestionSignal::Loss);
    assert_eq!(large.phase(), Phase::CongestionAvoidance);
    assert_close(large.window, 28.0);
    let mut slow = verus();
    send(&mut slow, 0, 10);
    acknowledge(&mut slow, 499, 499, 9);
    assert_close(slow.window, 11.0);
    acknowledge(&mut slow, 501, 501, 8);
    assert_eq!(slow.phase(), Phase::CongestionAvoidance);
    assert_close(slow.window, 7.0 + 1.0 / 7.0);
}

#[test]
fn a_target_outside_the_curve_starts_again() {
    let mut verus = steady();
    verus.curve.clear();
    verus.begin_epoch(at(1000));
    assert_eq!((verus.phase(), verus.window as u32), (Phase::SlowStart, 1));
}

#[test]
fn a_timeout_empties_the_network_and_returns_to_the_smallest_delay() {
    let mut verus = steady();
    signal(&mut verus, 1000, CongestionSignal::Timeout);
    assert_close(verus.target, 0.04);
    assert_eq!(verus.control().window, MSS);
}

#[test]
fn the_timer_stops_with_an_empty_network() {
    let mut verus = verus();
    send(&mut verus, 7, 1);
    assert_eq!(verus.next_timer(), at(12));
    verus.on_timer(at(12), &mut NullProbe);
    acknowledge(&mut verus, 15, 8, 0);
    verus.on_timer(at(17), &mut NullProbe);
    assert_eq!(verus.next_timer(), at(22));
    verus.on_timer(at(22), &mut NullProbe);
    assert_eq!(verus.next_timer(), Timestamp::NEVER);
    send(&mut verus, 100, 1);
    assert_eq!(verus.next_timer(), at(105));
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let default = VerusConfig::default();
    for config in [
        VerusConfig { ratio: 0.9, ..default },
        VerusConfig { ratio: f64::INFINITY, ..default },
        VerusConfig { decrease: 0.0, ..default },
        VerusConfig { decrease: 1.1, ..default },
    ] {
        assert!(Verus::new(config, MSS * 10, MSS).is_err(), "{config:?}");
    }
    assert!(Verus::new(default, MSS, Bytes::ZERO).is_err());
    assert!(Verus::new(default, Bytes::new(999), MSS).is_err());
}
