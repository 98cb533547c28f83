//! CUBIC as a rule: signals, the start of an epoch, and time that is not counted.

use airpath_model::{Duration, NullProbe};

use super::*;

const MSS: u64 = 1000;

fn cubic(config: CubicConfig) -> Cubic {
    Cubic::new(config).unwrap()
}

fn segments(count: u64) -> Bytes {
    Bytes::new(count * MSS)
}

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_secs_f64(seconds)
}

fn acked(seconds: f64, count: u64) -> AckEvent {
    let mut event = AckEvent::at(at(seconds));
    event.mss = segments(1);
    event.acked = segments(count);
    event
}

fn signal(signal: CongestionSignal, flight: u64) -> CongestionEvent {
    let mut event = CongestionEvent::at(at(0.0), signal);
    event.mss = segments(1);
    event.flight_size = segments(flight);
    event
}

fn w_max_after(rule: &mut Cubic, window: u64, which: CongestionSignal) -> Option<f64> {
    rule.reduce(segments(window), &signal(which, window), &mut NullProbe);
    rule.w_max
}

fn is(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 1e-9)
}

#[test]
fn the_rfc_reduces_the_flight_and_2008_the_window() {
    for (config, kept) in [(CubicConfig::RFC9438, 35), (CubicConfig::LINUX2008, 80)] {
        let reduced =
            cubic(config).reduce(segments(100), &signal(CongestionSignal::Loss, 50), &mut NullProbe);
        assert_eq!(reduced, segments(kept));
    }
}

#[test]
fn fast_convergence_reduces_more_below_the_last_saturation_point() {
    let mut rule = cubic(CubicConfig::RFC9438);
    assert!(is(w_max_after(&mut rule, 100, CongestionSignal::Loss), 100.0));
    assert!(is(w_max_after(&mut rule, 100, CongestionSignal::Loss), 100.0));
    // 90 * 1.7 / 2 = 76.5; then 80 is above that.
    assert!(is(w_max_after(&mut rule, 90, CongestionSignal::EcnCe), 76.5));
    assert!(is(w_max_after(&mut rule, 80, CongestionSignal::Loss), 80.0));
    let mut without = cubic(CubicConfig { fast_convergence: false, ..CubicConfig::RFC9438 });
    w_max_after(&mut without, 100, CongestionSignal::Loss);
    assert!(is(w_max_after(&mut without, 90, CongestionSignal::Loss), 90.0));
}

#[test]
fn after_a_timeout_the_saturation_point_is_unknown() {
    for config in [CubicConfig::RFC9438, CubicConfig::LINUX2008] {
        let mut rule = cubic(config);
        w_max_after(&mut rule, 100, CongestionSignal::Loss);
        assert_eq!(w_max_after(&mut rule, 90, CongestionSignal::Timeout), None);
        assert!(is(w_max_after(&mut rule, 80, CongestionSignal::Loss), 80.0));
    }
}

#[test]
fn growth_per_acknowledgment_is_the_distance_to_the_target_over_the_window() {
    // Epoch from 700 to W_max = 1000 segments: K = cbrt(300 / 0.4) = 9.0856 s. At t = 4 s with SRTT = 0.1 s
    // the target is 1000 - 0.4 * 4.98560^3 = 950.431. W_est is still 700, so one segment acknowledged at 900
    // adds 50.431 / 900 segments = 56.03 bytes.
    let mut rule = cubic(CubicConfig::RFC9438);
    w_max_after(&mut rule, 1000, CongestionSignal::Loss);
    rule.congestion_avoidance(segments(700), &acked(0.0, 1));
    rule.whole_bytes = WholeBytes::default();
    let mut event = acked(4.0, 1);
    event.rtt.smoothed = Duration::from_millis(100);
    assert_eq!(rule.congestion_avoidance(segments(900), &event), Bytes::new(900_056));
    // The target is at most half above the window: 250 / 500 segments.
    rule.whole_bytes = WholeBytes::default();
    let window = rule.congestion_avoidance(segments(500), &event);
    assert_eq!(window, Bytes::new(500_500));
}

#[test]
fn the_window_is_at_least_w_est() {
    // Small windows: 20 segments with W_max = 28.57. W_cubic(0) = 20, and one window of acknowledgments at
    // once adds alpha = 0.5294 segments.
    let mut rule = cubic(CubicConfig::RFC9438);
    rule.w_max = Some(20.0 / 0.7);
    rule.prior = 20.0 / 0.7;
    let window = rule.congestion_avoidance(segments(20), &acked(0.0, 20));
    assert_eq!(window, Bytes::new(20_529));
    let mut without = cubic(CubicConfig { reno_friendly: false, ..CubicConfig::RFC9438 });
    without.w_max = Some(20.0 / 0.7);
    assert_eq!(without.congestion_avoidance(segments(20), &acked(0.0, 20)), segments(20));
}

/// Returns the growth by one acknowledgment after one second of use in an epoch, with a pause of ten seconds
/// in between.
fn growth_after_a_pause(config: CubicConfig, pause: impl Fn(&mut Cubic)) -> Bytes {
    let mut rule = cubic(config);
    w_max_after(&mut rule, 1000, CongestionSignal::Loss);
    rule.congestion_avoidance(segments(700), &acked(0.0, 1));
    pause(&mut rule);
    rule.whole_bytes = WholeBytes::default();
    rule.congestion_avoidance(segments(700), &acked(11.0, 1))
}

#[test]
fn time_with_an_unused_window_does_not_count() {
    let not_used = |rule: &mut Cubic| {
        let mut event = acked(10.0, 1);
        event.window_limited = false;
        rule.on_ack(segments(100), &event, &mut NullProbe);
    };
    let idle = |rule: &mut Cubic| rule.on_sent(&SendEvent::at(at(10.0), segments(1)));
    let in_use = |rule: &mut Cubic| {
        let mut event = SendEvent::at(at(10.0), segments(1));
        event.in_flight = segments(2);
        rule.on_sent(&event);
        rule.on_ack(segments(100), &acked(10.0, 1), &mut NullProbe);
    };
    // W_cubic(1 s) = 1000 - 0.4 * 8.0856^3 = 788.56, W_cubic(11 s) = 1002.81: over 700.
    let rfc = CubicConfig::RFC9438;
    assert_eq!(growth_after_a_pause(rfc, not_used), Bytes::new(700_126));
    assert_eq!(growth_after_a_pause(rfc, idle), Bytes::new(700_126));
    assert_eq!(growth_after_a_pause(rfc, in_use), Bytes::new(700_432));
    // Linux 2.6.22 counts all time. Without an RTT the only bound on the increment is cnt >= 1.
    assert_eq!(growth_after_a_pause(CubicConfig::LINUX2008, idle), Bytes::new(700_432));
}

#[test]
fn in_2008_the_increment_past_the_plateau_is_bounded_by_16_segments_in_100_ms() {
    let mut rule = cubic(CubicConfig::LINUX2008);
    w_max_after(&mut rule, 10_000, CongestionSignal::Loss);
    let mut event = acked(0.0, 1);
    event.rtt.minimum = Duration::from_millis(50);
    rule.congestion_avoidance(segments(5000), &event);
    rule.whole_bytes = WholeBytes::default();
    // K is cbrt(5000 / 0.4) = 23.2 s. Before K the window follows the curve, which is 4088 segments higher
    // after ten seconds.
    let grown = |rule: &mut Cubic, seconds| {
        let mut event = acked(seconds, 5000);
        event.rtt.minimum = Duration::from_millis(50);
        rule.congestion_avoidance(segments(5000), &event)
    };
    assert_eq!(grown(&mut rule, 10.0).get() / MSS, 9088);
    // After K, if the curve is far above, one window of acknowledgments in 50 ms may add 8 segments.
    rule.whole_bytes = WholeBytes::default();
    assert_eq!(grown(&mut rule, 24.0), segments(5008));
}

#[test]
fn in_2008_the_window_grows_by_at_most_the_acknowledged_data_and_slowly_above_the_curve() {
    let config = CubicConfig { reno_friendly: false, ..CubicConfig::LINUX2008 };
    let mut rule = cubic(config);
    w_max_after(&mut rule, 10_000, CongestionSignal::Loss);
    rule.congestion_avoidance(segments(100), &acked(0.0, 1));
    rule.whole_bytes = WholeBytes::default();
    // No RTT is known, so there is no other bound.
    assert_eq!(rule.congestion_avoidance(segments(100), &acked(20.0, 3)), segments(103));
    // Above the curve, one segment per 100 windows.
    rule.whole_bytes = WholeBytes::default();
    assert_eq!(rule.congestion_avoidance(segments(20_000), &acked(20.0, 20_000)), Bytes::new(20_000_010));
}

#[test]
fn in_2008_growth_is_one_in_fifty_before_the_first_loss() {
    let mut rule = cubic(CubicConfig::LINUX2008);
    assert_eq!(rule.congestion_avoidance(segments(500), &acked(0.0, 100)), segments(502));
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let config = CubicConfig::default();
    for beta in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        assert!(Cubic::new(CubicConfig { beta, ..config }).is_err(), "beta {beta}");
    }
    for c in [0.0, -0.4, f64::NAN, f64::INFINITY] {
        assert!(Cubic::new(CubicConfig { c, ..config }).is_err(), "c {c}");
    }
}
