//! Prague's α, its responses, and the fairness of short round trips.

use airpath_model::NullProbe;

use super::*;

const MSS: u64 = 1000;

fn prague() -> Prague {
    Prague::new(PragueConfig::default()).unwrap()
}

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

/// Returns an acknowledgment of `acked` bytes at `ms`, of which `marked` arrived marked, over a round trip of
/// `rtt_ms`.
fn acked(ms: u64, acked: u64, marked: u64, rtt_ms: u64) -> AckEvent {
    let mut event = AckEvent::at(at(ms));
    (event.mss, event.acked, event.marked) = (Bytes::new(MSS), Bytes::new(acked), Bytes::new(marked));
    event.rtt.smoothed = Duration::from_millis(rtt_ms);
    event
}

fn signal(ms: u64, signal: CongestionSignal, rtt_ms: u64) -> CongestionEvent {
    let mut event = CongestionEvent::at(at(ms), signal);
    event.mss = Bytes::new(MSS);
    event.rtt.smoothed = Duration::from_millis(rtt_ms);
    event
}

#[test]
fn alpha_is_the_weighted_mean_of_the_shares_of_rounds() {
    let mut rule = prague();
    let window = Bytes::new(10 * MSS);
    rule.on_ack(window, &acked(0, 1000, 0, 50), &mut NullProbe);
    rule.on_ack(window, &acked(30, 1000, 1000, 50), &mut NullProbe);
    assert!((rule.alpha - 1.0).abs() < 1e-15, "the round goes on");
    rule.on_ack(window, &acked(50, 2000, 0, 50), &mut NullProbe);
    // 1000 of 4000 bytes: 15/16 + 1/4 / 16.
    assert!((rule.alpha - 0.953_125).abs() < 1e-15, "{}", rule.alpha);
    rule.on_ack(window, &acked(99, 4000, 4000, 50), &mut NullProbe);
    rule.on_ack(window, &acked(100, 4000, 4000, 50), &mut NullProbe);
    assert!((rule.alpha - (0.953_125 * 15.0 / 16.0 + 1.0 / 16.0)).abs() < 1e-15, "{}", rule.alpha);
}

#[test]
fn a_mark_takes_half_of_alpha_and_a_loss_half_of_the_window() {
    let mut rule = prague();
    rule.alpha = 0.2;
    let window = Bytes::new(100 * MSS);
    let mut after = |ms, kind| rule.reduce(window, &signal(ms, kind, 50), &mut NullProbe).get();
    assert_eq!(after(0, CongestionSignal::EcnCe), 90 * MSS);
    assert_eq!(after(1000, CongestionSignal::Loss), 50 * MSS);
    assert_eq!(after(2000, CongestionSignal::Timeout), 50 * MSS);
}

#[test]
fn in_one_round_there_is_one_reduction_and_it_is_no_shorter_than_the_virtual_one() {
    let mut rule = prague();
    let window = Bytes::new(100 * MSS);
    let mut kept =
        |ms, rtt| rule.reduce(window, &signal(ms, CongestionSignal::EcnCe, rtt), &mut NullProbe) == window;
    assert!(!kept(0, 5));
    assert!(kept(24, 5), "a mark 24 ms later, over a round trip of 5");
    assert!(!kept(25, 5));
    // The driver enforces the round trip itself.
    assert!(!kept(1000, 60) && !kept(1060, 60));
}

/// One segment per round trip that is at least the virtual RTT. In a shorter one, the growth with which all
/// rates grow equally fast.
#[test]
fn growth_does_not_depend_on_the_round_trip_time() {
    for (rtt_ms, segments) in [(100, 1.0), (25, 1.0), (5, 0.04), (10, 0.16)] {
        let mut rule = prague();
        let start = Bytes::new(50 * MSS);
        let mut window = start;
        for _ in 0..50 {
            window = rule.congestion_avoidance(window, &acked(0, MSS, 0, rtt_ms));
        }
        let grown = (window.get() - start.get()) as f64 / MSS as f64;
        assert!((grown - segments).abs() < 0.02, "{rtt_ms} ms: {grown}");
    }
}

#[test]
fn the_requirements_cover_all_inputs() {
    let needs = prague().requirements();
    assert!(needs.ecn && needs.accurate_ecn && !needs.path_feedback);
}

#[test]
fn invalid_parameters_are_rejected() {
    let with = |gain, ms| {
        Prague::new(PragueConfig { gain, virtual_rtt: Duration::from_millis(ms) })
            .map(drop)
            .map_err(|e| e.parameter)
    };
    assert_eq!(with(0.0, 25), Err("gain"));
    assert_eq!(with(1.5, 25), Err("gain"));
    assert_eq!(with(f64::NAN, 25), Err("gain"));
    assert_eq!(with(1.0, 0), Err("virtual_rtt"));
    assert_eq!(with(1.0, 1), Ok(()));
}

/// Marks are counted in whole segments. In a round of short segments the count can therefore exceed the
/// arrived data.
#[test]
fn more_marks_than_data_count_as_all_data() {
    let mut rule = prague();
    rule.alpha = 0.5;
    rule.on_ack(Bytes::new(MSS), &acked(0, 100, 1000, 50), &mut NullProbe);
    rule.on_ack(Bytes::new(MSS), &acked(50, 100, 1000, 50), &mut NullProbe);
    assert!((rule.alpha - (0.5 * 15.0 / 16.0 + 1.0 / 16.0)).abs() < 1e-15, "{}", rule.alpha);
}
