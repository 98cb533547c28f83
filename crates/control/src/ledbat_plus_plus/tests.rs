//! The rules of the draft, one by one.

use airpath_model::NullProbe;

use super::*;

const MSS: Bytes = Bytes::new(1000);
const BASE: Duration = Duration::from_millis(40);
const GAIN: f64 = 1.0 / 3.0;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns a flow that has observed the path's delay of 40 ms.
fn flow(packets: u64) -> LedbatPlusPlus {
    let mut flow = LedbatPlusPlus::new(LedbatPlusPlusConfig::default(), MSS * packets, MSS).unwrap();
    flow.state.base.update(Timestamp::ZERO, BASE);
    flow
}

/// Returns a flow in congestion avoidance, without a slowdown in the near future.
fn avoiding(packets: u64) -> LedbatPlusPlus {
    let mut flow = flow(packets);
    flow.state.stage = Stage::Avoidance;
    flow.state.next_slowdown = Some(Timestamp::NEVER);
    flow
}

/// Acknowledges `packets` at `at` with a queueing delay; the smoothed RTT is 100 ms.
fn ack(flow: &mut LedbatPlusPlus, at: u64, packets: u64, queueing: u64) -> f64 {
    let mut event = AckEvent::at(Timestamp::ZERO + ms(at));
    event.acked = MSS * packets;
    event.mss = MSS;
    event.rtt_sample = Some(BASE + ms(queueing));
    event.rtt.smoothed = ms(100);
    flow.state.current = CurrentDelay::default();
    flow.on_ack(&event, &mut NullProbe);
    flow.state.window / 1000.0
}

fn signal(flow: &mut LedbatPlusPlus, at: u64, signal: CongestionSignal) {
    let mut event = CongestionEvent::at(Timestamp::ZERO + ms(at), signal);
    event.mss = MSS;
    event.rtt.smoothed = ms(100);
    event.consecutive = u32::from(signal == CongestionSignal::Timeout);
    flow.on_congestion(&event, &mut NullProbe);
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
}

#[test]
fn the_gain_matches_section_4_2() {
    let config = LedbatPlusPlusConfig::default();
    // 1 / min(16, ceil(120 ms / base)).
    for (base, divisor) in [(1, 16.0), (8, 15.0), (20, 6.0), (40, 3.0), (60, 2.0), (120, 1.0), (200, 1.0)] {
        assert_near(config.gain(ms(base)), 1.0 / divisor);
    }
}

#[test]
fn the_change_per_round_trip_matches_section_4_3() {
    let config = LedbatPlusPlusConfig::default();
    // GAIN up to the target. At 10 % above the target 100 packets decrease by 10. At most half of the window.
    for (queueing, change) in [(0, GAIN), (60, GAIN), (66, GAIN - 10.0), (90, GAIN - 50.0), (600, -50.0)] {
        assert_near(config.change(100.0, ms(queueing), BASE), change);
    }
}

#[test]
fn an_acknowledgment_applies_its_share_of_the_change() {
    assert_near(ack(&mut avoiding(20), 1, 2, 10), 20.0 + GAIN / 10.0);
    assert_near(ack(&mut avoiding(20), 1, 2, 66), 20.0 + (GAIN - 2.0) / 10.0);
    assert_near(ack(&mut avoiding(2), 1, 2, 600), 2.0);
}

/// An acknowledgment of more than a window causes the change of one window; a window below the floor of two
/// is not raised to it.
#[test]
fn a_change_is_limited_to_that_of_a_round_trip() {
    assert_near(ack(&mut avoiding(20), 1, 40, 10), 20.0 + GAIN);
    assert_near(ack(&mut avoiding(1), 1, 1, 600), 1.0);
}

/// RFC 6817, section 2.4.2: a window that is not used does not grow, but delay still decreases it.
#[test]
fn an_unused_window_only_decreases() {
    let unused = |queueing: u64| {
        let mut flow = avoiding(20);
        let mut event = AckEvent::at(Timestamp::ZERO + ms(1));
        (event.acked, event.mss, event.window_limited) = (MSS * 2, MSS, false);
        (event.rtt_sample, event.rtt.smoothed) = (Some(BASE + ms(queueing)), ms(100));
        flow.on_ack(&event, &mut NullProbe);
        flow.state.window / 1000.0
    };
    assert_near(unused(10), 20.0);
    assert_near(unused(66), 20.0 + (GAIN - 2.0) / 10.0);
}

#[test]
fn the_first_slow_start_ends_at_three_quarters_of_the_target_and_a_slowdown_follows() {
    let mut flow = flow(2);
    assert_near(ack(&mut flow, 100, 2, 45), 2.0 + 2.0 * GAIN);
    assert_eq!(flow.phase(), Phase::SlowStart);
    let window = ack(&mut flow, 200, 2, 46);
    assert_eq!(flow.phase(), Phase::CongestionAvoidance);
    assert_eq!(flow.ssthresh(), Some(Bytes::from_f64(window * 1000.0)));
    ack(&mut flow, 399, 1, 10);
    assert_eq!(flow.phase(), Phase::CongestionAvoidance);
    ack(&mut flow, 400, 1, 10);
    assert_eq!(flow.phase(), Phase::Slowdown, "two round trips later");
}

#[test]
fn a_slowdown_freezes_two_packets_for_two_round_trips_and_ramps_up() {
    let mut flow = avoiding(4);
    flow.state.next_slowdown = Some(Timestamp::ZERO + ms(1000));
    assert_near(ack(&mut flow, 1000, 1, 10), 2.0);
    assert_eq!((flow.phase(), flow.ssthresh()), (Phase::Slowdown, Some(MSS * 4)));
    assert_near(ack(&mut flow, 1199, 2, 0), 2.0);
    assert_near(ack(&mut flow, 1200, 2, 0), 2.0);
    assert_eq!(flow.phase(), Phase::SlowStart);
    assert_near(ack(&mut flow, 1300, 3, 60), 3.0);
    assert_eq!(flow.phase(), Phase::SlowStart, "delay does not end a ramp");
    assert_near(ack(&mut flow, 1400, 6, 10), 4.0);
    assert_eq!(flow.phase(), Phase::CongestionAvoidance);
    // The slowdown lasted 400 ms, so the next one is due after nine times that duration.
    assert_eq!(flow.state.next_slowdown, Some(Timestamp::ZERO + ms(1400 + 9 * 400)));
}

#[test]
fn a_loss_halves_the_window_and_during_a_slowdown_the_one_before() {
    let mut flow = avoiding(20);
    signal(&mut flow, 1, CongestionSignal::Loss);
    assert_eq!((flow.control().window, flow.ssthresh()), (MSS * 10, Some(MSS * 10)));
    let mut flow = avoiding(20);
    flow.state.next_slowdown = Some(Timestamp::ZERO);
    ack(&mut flow, 1, 1, 10);
    signal(&mut flow, 2, CongestionSignal::Loss);
    assert_eq!((flow.control().window, flow.ssthresh()), (MSS * 2, Some(MSS * 10)));
    assert_eq!(flow.phase(), Phase::Slowdown);
}

#[test]
fn a_loss_in_the_first_slow_start_ends_it() {
    let mut flow = flow(20);
    signal(&mut flow, 50, CongestionSignal::Loss);
    assert_eq!((flow.phase(), flow.control().window), (Phase::CongestionAvoidance, MSS * 10));
    assert_eq!(flow.state.next_slowdown, Some(Timestamp::ZERO + ms(250)));
}

#[test]
fn a_timeout_ramps_up_to_half_and_can_be_undone() {
    let mut flow = avoiding(20);
    signal(&mut flow, 1, CongestionSignal::Timeout);
    assert_eq!((flow.control().window, flow.ssthresh()), (MSS, Some(MSS * 10)));
    assert_eq!(flow.phase(), Phase::SlowStart);
    flow.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!((flow.control().window, flow.phase()), (MSS * 20, Phase::CongestionAvoidance));
    assert_eq!(flow.state.next_slowdown, Some(Timestamp::NEVER));
}

#[test]
fn a_spurious_timeout_with_a_window_of_one_segment_restores_the_threshold() {
    let mut flow = flow(1);
    signal(&mut flow, 1, CongestionSignal::Timeout);
    assert_eq!((flow.control().window, flow.ssthresh()), (MSS, Some(MSS * 2)));
    flow.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!((flow.control().window, flow.ssthresh()), (MSS, None));
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let good = LedbatPlusPlusConfig::default();
    let bad = [
        LedbatPlusPlusConfig { target: Duration::ZERO, ..good },
        LedbatPlusPlusConfig { gain_divisor_limit: 0.5, ..good },
        LedbatPlusPlusConfig { decrease: 0.0, ..good },
        LedbatPlusPlusConfig { slowdown_spacing: 0, ..good },
    ];
    for config in bad {
        assert!(LedbatPlusPlus::new(config, MSS * 2, MSS).is_err(), "{config:?}");
    }
    assert!(LedbatPlusPlus::new(good, Bytes::new(999), MSS).is_err());
}
