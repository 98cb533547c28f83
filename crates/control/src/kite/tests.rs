//! Kite's window in each state.

use airpath_model::NullProbe;

use super::*;

const MSS: Bytes = Bytes::new(1000);
const BASE: Duration = Duration::from_millis(40);

fn kite(config: KiteConfig) -> Kite {
    Kite::new(config, MSS * 10, MSS).unwrap()
}

/// Acknowledges one packet at `ms` that waited `queue_ms`; the receiver's clock is 5 s ahead.
fn ack(kite: &mut Kite, ms: u64, queue_ms: u64) {
    let mut event = AckEvent::at(Timestamp::ZERO + Duration::from_millis(ms));
    (event.acked, event.mss, event.round) = (MSS, MSS, ms / 40);
    event.rtt_sample = Some(BASE + Duration::from_millis(queue_ms));
    event.rtt.smoothed = BASE;
    event.receiver_time = Some(event.now + Duration::from_millis(4980));
    kite.on_ack(&event, &mut NullProbe);
}

/// Returns a sender after `seconds` at one packet per millisecond with a queue of `queue_ms`, which was empty
/// once at the beginning.
fn steady(config: KiteConfig, seconds: u64, queue_ms: u64) -> Kite {
    let mut kite = kite(config);
    ack(&mut kite, 1000, 0);
    for ms in 1001..=1000 + 1000 * seconds {
        ack(&mut kite, ms, queue_ms);
    }
    kite
}

fn segments(kite: &Kite) -> f64 {
    kite.control().window.as_f64() / MSS.as_f64()
}

#[test]
fn the_window_is_capacity_times_base_delay_and_target() {
    // 1000 packets per second: 4 ms and 0.1 s / √1000 = 3.2 ms. The link is calm.
    let calm = steady(KiteConfig::default(), 4, 7);
    assert!((segments(&calm) - 47.16).abs() < 0.5, "{}", segments(&calm));
    // In addition 20 ms and 0.3 × 40 ms.
    let moving = steady(KiteConfig { adaptive: false, ..KiteConfig::default() }, 4, 7);
    assert!((segments(&moving) - 79.16).abs() < 0.5, "{}", segments(&moving));
    let capped = KiteConfig { max_target: Duration::from_millis(5), ..KiteConfig::default() };
    assert!((segments(&steady(capped, 4, 7)) - 45.0).abs() < 0.5);
}

#[test]
fn pacing_can_be_left_to_the_stack() {
    let kite = steady(KiteConfig { pacing: false, ..KiteConfig::default() }, 4, 7);
    assert!(!kite.requirements().pacing);
    assert_eq!(kite.control().pacing, Pacing::FromWindow);
    assert!((segments(&kite) - 47.16).abs() < 0.5, "{}", segments(&kite));
}

#[test]
fn packets_are_paced_faster_on_a_moving_link() {
    for (adaptive, gain) in [(true, 4.0 / 3.0), (false, 2.0)] {
        let kite = steady(KiteConfig { adaptive, ..KiteConfig::default() }, 4, 7);
        let Pacing::At(rate) = kite.control().pacing else { panic!("not paced") };
        let found = rate.bytes_per_second() / kite.capacity.get();
        assert!((found - gain).abs() < 0.01, "{found} instead of {gain}");
    }
}

#[test]
fn the_start_ends_at_a_queue() {
    let mut kite = kite(KiteConfig::default());
    ack(&mut kite, 1000, 0);
    let mut before = segments(&kite);
    for ms in 1001..1100 {
        ack(&mut kite, ms, 0);
        assert!((segments(&kite) - before - 1.0).abs() < 1e-9);
        before = segments(&kite);
    }
    assert_eq!(kite.phase(), Phase::SlowStart);
    for ms in 1100..1160 {
        ack(&mut kite, ms, 40);
    }
    assert_eq!(kite.phase(), Phase::Steady, "the target is 32 ms");
}

#[test]
fn a_queue_that_is_never_empty_is_drained() {
    let mut kite = steady(KiteConfig::default(), 1, 7);
    let mut drained = [0_u64; 2];
    for ms in 2001..9000 {
        ack(&mut kite, ms, 7);
        if kite.phase() == Phase::Drain {
            let first = if drained[0] == 0 { ms } else { drained[0] };
            drained = [first, ms];
            assert!((segments(&kite) - 20.0).abs() < 1.0, "half the base delay: {}", segments(&kite));
        }
    }
    assert!((drained[1] - drained[0]).abs_diff(140) <= 2, "0.1 s and a round trip: {drained:?}");
    assert_eq!(steady(KiteConfig::default(), 12, 0).phase(), Phase::Steady, "an empty queue is not drained");
}

#[test]
fn losses_change_nothing_and_a_timeout_probes_with_one_segment() {
    let mut kite = steady(KiteConfig::default(), 4, 7);
    let before = kite.control();
    let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
    event.mss = MSS;
    kite.on_congestion(&event, &mut NullProbe);
    assert_eq!(kite.control(), before);
    event.signal = CongestionSignal::Timeout;
    kite.on_congestion(&event, &mut NullProbe);
    assert_eq!(kite.control().window, MSS);
    kite.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(kite.control(), before);
    kite.on_congestion(&event, &mut NullProbe);
    ack(&mut kite, 5001, 7);
    assert!((segments(&kite) - 47.16).abs() < 0.5, "{}", segments(&kite));
}

#[test]
fn without_timestamps_the_arrivals_of_acknowledgments_count() {
    let mut kite = kite(KiteConfig::default());
    for ms in 1000..5000 {
        let mut event = AckEvent::at(Timestamp::ZERO + Duration::from_millis(ms));
        (event.acked, event.mss, event.round) = (MSS, MSS, ms / 40);
        event.rtt_sample = Some(BASE + Duration::from_millis(if ms == 1000 { 0 } else { 7 }));
        event.rtt.smoothed = BASE;
        kite.on_ack(&event, &mut NullProbe);
    }
    assert!((segments(&kite) - 47.16).abs() < 0.5, "{}", segments(&kite));
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let default = KiteConfig::default();
    for config in [
        KiteConfig { base_share: -0.1, ..default },
        KiteConfig { base_share: f64::NAN, ..default },
        KiteConfig { max_target: Duration::ZERO, ..default },
        KiteConfig { drain_interval: Duration::ZERO, ..default },
        KiteConfig { tick: Duration::ZERO, ..default },
    ] {
        assert!(Kite::new(config, MSS * 10, MSS).is_err(), "{config:?}");
    }
    assert!(Kite::new(default, MSS, Bytes::ZERO).is_err());
    assert!(Kite::new(default, Bytes::new(999), MSS).is_err());
}
