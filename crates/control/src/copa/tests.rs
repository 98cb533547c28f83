//! The steps of the paper, one by one.

use airpath_model::{Duration, NullProbe};

use super::*;

const MSS: Bytes = Bytes::new(1000);
const BASE: Duration = Duration::from_millis(100);

/// Returns a sender in congestion avoidance with a window of `packets` that has observed the path without a
/// queue.
fn steady(packets: u64) -> Copa {
    let mut copa = Copa::new(CopaConfig::default(), MSS * packets, MSS).unwrap();
    copa.state.slow_start = false;
    copa.state.delays.update(Timestamp::ZERO, BASE, BASE);
    copa.state.velocity.restart(0, copa.state.window);
    copa
}

/// Acknowledges one packet at `ms` with a queueing delay of `queueing_us`.
fn ack(copa: &mut Copa, ms: u64, queueing_us: u64, round: u64) -> f64 {
    let mut event = AckEvent::at(Timestamp::ZERO + Duration::from_millis(ms));
    event.acked = MSS;
    event.mss = MSS;
    event.round = round;
    event.rtt_sample = Some(BASE + Duration::from_micros(queueing_us));
    event.rtt.smoothed = BASE;
    copa.on_ack(&event, &mut NullProbe);
    copa.state.window / 1000.0
}

#[test]
fn the_window_moves_by_v_over_delta_in_a_round_trip_towards_the_target() {
    // With 20 packets the target is reached if 20 × 0.5 d_q = RTTstanding = 100 ms + d_q: at d_q = 11.1 ms.
    let mut copa = steady(20);
    let up = ack(&mut copa, 100, 11_000, 0);
    assert!((up - 20.1).abs() < 1e-9, "one packet of 20 acknowledged adds 1 / (0.5 × 20): {up}");
    let mut copa = steady(20);
    let down = ack(&mut copa, 100, 11_200, 0);
    assert!((down - 19.9).abs() < 1e-9, "{down}");
}

#[test]
fn the_smallest_rtt_of_half_a_round_trip_counts() {
    let mut copa = steady(20);
    ack(&mut copa, 100, 5000, 0);
    assert!(ack(&mut copa, 149, 50_000, 0) > 20.1, "a late packet among early ones is jitter");
    assert!(ack(&mut copa, 151, 50_000, 0) < 20.2, "the early samples have expired");
}

#[test]
fn slow_start_doubles_until_the_rate_is_above_the_target() {
    let mut copa = Copa::new(CopaConfig::default(), MSS * 10, MSS).unwrap();
    assert_eq!(copa.phase(), Phase::SlowStart);
    for packet in 1..=10 {
        let window = ack(&mut copa, 100, 0, 1);
        assert!((window - 10.0 - f64::from(packet)).abs() < 1e-9, "{window}");
    }
    // 20 packets × 0.5 × 12 ms > 112 ms.
    let window = ack(&mut copa, 200, 12_000, 2);
    assert_eq!(copa.phase(), Phase::CongestionAvoidance);
    assert!((window - 19.9).abs() < 1e-9, "{window}");
}

#[test]
fn packets_leave_at_twice_the_window_over_the_standing_rtt() {
    let mut copa = Copa::new(CopaConfig::default(), MSS * 10, MSS).unwrap();
    assert_eq!(copa.control().pacing, Pacing::Off, "no round-trip time is known");
    ack(&mut copa, 100, 0, 1);
    assert_eq!(copa.control().pacing, Pacing::At(Rate::from_bps(2 * 11_000 * 8 * 10)));
}

#[test]
fn losses_change_nothing_and_a_timeout_restarts() {
    let mut copa = steady(20);
    let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
    event.mss = MSS;
    copa.on_congestion(&event, &mut NullProbe);
    assert_eq!(copa.control().window, MSS * 20);
    event.signal = CongestionSignal::Timeout;
    event.consecutive = 1;
    copa.on_congestion(&event, &mut NullProbe);
    assert_eq!((copa.control().window, copa.phase()), (MSS, Phase::SlowStart));
    copa.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!((copa.control().window, copa.phase()), (MSS * 20, Phase::CongestionAvoidance));
}

#[test]
fn a_spurious_timeout_with_a_window_of_one_segment_restores_the_phase() {
    let mut copa = steady(1);
    let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Timeout);
    (event.mss, event.consecutive) = (MSS, 1);
    copa.on_congestion(&event, &mut NullProbe);
    assert_eq!((copa.control().window, copa.phase()), (MSS, Phase::SlowStart));
    copa.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!((copa.control().window, copa.phase()), (MSS, Phase::CongestionAvoidance));
}

#[test]
fn the_window_stays_at_two_packets() {
    let mut copa = steady(4);
    // With δ = 2 the target would be half a packet.
    copa.state.mode = Mode::new(CopaConfig { delta: 2.0, competitive: false });
    for round in 0..20 {
        ack(&mut copa, 100 * (round + 1), 900_000, round);
    }
    assert_eq!(copa.control().window, MSS * 2);
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut copa = steady(20);
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.acked = MSS;
    event.mss = MSS;
    event.rtt_sample = Some(BASE);
    event.rtt.smoothed = BASE;
    event.window_limited = false;
    copa.on_ack(&event, &mut NullProbe);
    assert_eq!(copa.control().window, MSS * 20);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let config = CopaConfig { delta, ..CopaConfig::default() };
        assert!(Copa::new(config, MSS * 10, MSS).is_err(), "{delta}");
    }
    assert!(Copa::new(CopaConfig::default(), MSS, Bytes::ZERO).is_err());
    assert!(Copa::new(CopaConfig::default(), Bytes::new(999), MSS).is_err());
}

/// A loss halves 1/δ in competitive mode (section 2.2). A spurious loss restores it, and after repeated
/// timeouts the state from before the first is restored.
#[test]
fn a_loss_halves_the_competitive_window_and_a_spurious_loss_restores_it() {
    let mut copa = steady(20);
    copa.state.mode = Mode::new(CopaConfig { delta: 0.5, competitive: true });
    // The queue is never nearly empty. From the sixth round on Copa concludes that other flows fill it, and
    // 1/δ grows by one per round.
    for round in 0..=10 {
        ack(&mut copa, 100 * (round + 1), 90_000, round);
    }
    let delta = copa.state.mode.delta();
    assert!((delta - 1.0 / 6.0).abs() < 1e-12, "2 in round 6, 6 in round 10: {delta}");
    let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
    event.mss = MSS;
    copa.on_congestion(&event, &mut NullProbe);
    assert!((copa.state.mode.delta() - 1.0 / 3.0).abs() < 1e-12);
    copa.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert!((copa.state.mode.delta() - delta).abs() < 1e-12);
    let before = copa.control().window;
    event.signal = CongestionSignal::Timeout;
    for consecutive in [1, 2] {
        event.consecutive = consecutive;
        copa.on_congestion(&event, &mut NullProbe);
    }
    copa.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(copa.control().window, before);
}

/// Section 2.1: v is 1 at the end of slow start, regardless of its previous value.
#[test]
fn the_velocity_starts_at_one_after_slow_start() {
    let mut copa = steady(200);
    for round in 1..=6 {
        ack(&mut copa, 100 * round, 90_000, round);
    }
    assert!(copa.state.velocity.towards(Direction::Down) > 1.0, "it went down for long");
    copa.state.slow_start = true;
    let before = copa.state.window / 1000.0;
    let step = before - ack(&mut copa, 700, 90_000, 6);
    assert!((step - 1.0 / (0.5 * before)).abs() < 1e-9, "{step}");
}
