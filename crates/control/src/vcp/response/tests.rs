use alloc::string::ToString as _;

use airpath_model::Timestamp;

use super::*;

const MSS: Bytes = Bytes::new(1000);
const XI: Region = Region::Multiplicative(0.0625);

fn config() -> LoadResponseConfig {
    LoadResponseConfig::default()
}

fn response(packets: u64) -> LoadResponse {
    LoadResponse::new(config(), MSS * packets, MSS).unwrap()
}

/// Returns an acknowledgment of `packets` with a round-trip time in ms.
fn ack(millis: u64, packets: u64, rtt: u64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO + Duration::from_millis(millis));
    event.mss = MSS;
    event.acked = MSS * packets;
    event.rtt.minimum = Duration::from_millis(rtt);
    event.rtt.smoothed = Duration::from_millis(rtt);
    event
}

fn signal(signal: CongestionSignal, consecutive: u32) -> CongestionEvent {
    let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
    event.mss = MSS;
    event.consecutive = consecutive;
    event
}

fn window(response: &LoadResponse) -> u64 {
    response.control().window.get()
}

#[test]
fn a_round_trip_of_low_load_multiplies_the_window() {
    let mut response = response(16);
    for _ in 0..16 {
        response.on_ack(&ack(0, 1, 200), Some(XI));
    }
    assert_eq!(window(&response), 17_000);
    // One acknowledgment for all has the same effect.
    response.on_ack(&ack(0, 17, 200), Some(XI));
    assert_eq!(window(&response), 18_063);
}

#[test]
fn additive_increase_is_divided_over_the_window() {
    let mut response = response(10);
    response.on_ack(&ack(0, 10, 400), Some(Region::Additive));
    assert_eq!(window(&response), 14_000, "(400 / 200)² packets for a whole window");
    response.on_ack(&ack(0, 7, 200), Some(Region::Additive));
    assert_eq!(window(&response), 14_500, "half a window, half a packet");
}

#[test]
fn a_decrease_is_immediate_and_occurs_once() {
    let mut response = response(16);
    response.on_ack(&ack(0, 1, 100), Some(Region::Decrease(0.875)));
    assert_eq!(window(&response), 14_000);
    response.on_ack(&ack(199, 1, 100), Some(Region::Decrease(0.875)));
    response.on_ack(&ack(199, 1, 100), Some(XI));
    assert_eq!(window(&response), 14_000, "frozen");
    response.on_ack(&ack(200, 14, 100), Some(Region::Decrease(0.875)));
    assert_eq!(window(&response), 14_250, "additive for a round trip");
    response.on_ack(&ack(300, 1, 100), Some(Region::Decrease(0.875)));
    assert_eq!(window(&response), 12_469);
}

#[test]
fn a_guard_permits_many_flows_below_the_equilibrium_window() {
    // Cycles of decrease, freeze and a round trip of growth under a permanent overload.
    let resting = |after_freeze, additive| {
        let config = LoadResponseConfig { after_freeze, additive_scaling: (additive), ..config() };
        let mut response = LoadResponse::new(config, MSS * 40, MSS).unwrap();
        for millis in 0..200_000 {
            // A window of data is acknowledged in 400 ms.
            let mut event = ack(millis, 0, 400);
            event.acked = Bytes::from_f64(window(&response) as f64 / 400.0);
            response.on_ack(&event, Some(Region::Decrease(0.875)));
        }
        window(&response) as f64 / 1000.0
    };
    // α_s = 2: between 14 and 16 packets. A millisecond's share of the window is rounded to bytes.
    let author = resting(AfterFreeze::Author, AdditiveScaling::Linear);
    assert!((13.9..=16.1).contains(&author), "{author}");
    let square = resting(AfterFreeze::Author, AdditiveScaling::Square);
    assert!((27.8..=32.2).contains(&square), "{square}");
    for after_freeze in [AfterFreeze::Guarded, AfterFreeze::Obey] {
        assert!((resting(after_freeze, AdditiveScaling::Linear) - 1.0).abs() < 0.01, "{after_freeze:?}");
    }
}

#[test]
fn the_window_never_falls_below_one_packet() {
    let mut response = response(1);
    response.on_ack(&ack(0, 1, 100), Some(Region::Decrease(0.5)));
    assert_eq!(window(&response), 1_000);
    response.on_congestion(&signal(CongestionSignal::Loss, 0));
    assert_eq!(window(&response), 1_000);
}

#[test]
fn no_growth_without_rtt_with_unused_windows_or_in_recovery() {
    let mut response = response(10);
    response.on_ack(&ack(0, 10, 200), None);
    let mut unused = ack(0, 10, 200);
    unused.window_limited = false;
    response.on_ack(&unused, Some(XI));
    let mut recovering = ack(0, 10, 200);
    recovering.in_recovery = true;
    response.on_ack(&recovering, Some(XI));
    response.on_ack(&recovering, Some(Region::Decrease(0.875)));
    assert_eq!(window(&response), 10_000);
    // A window that is not used still decreases.
    response.on_ack(&unused, Some(Region::Decrease(0.875)));
    assert_eq!(window(&response), 8_750);
}

#[test]
fn losses_are_handled_like_reno_and_undone_if_spurious() {
    let mut response = response(10);
    response.on_congestion(&signal(CongestionSignal::Loss, 0));
    assert_eq!(window(&response), 5_000);
    response.on_spurious();
    assert_eq!(window(&response), 10_000);
    response.on_congestion(&signal(CongestionSignal::EcnCe, 0));
    assert_eq!(window(&response), 5_000);
    response.on_congestion(&signal(CongestionSignal::Timeout, 1));
    response.on_congestion(&signal(CongestionSignal::Timeout, 2));
    assert_eq!(window(&response), 1_000);
    response.on_spurious();
    assert_eq!(window(&response), 5_000, "as before the first timeout");
    response.on_spurious();
    assert_eq!(window(&response), 5_000, "once");
    // There is no slow start: the window grows from one packet by MI.
    response.on_congestion(&signal(CongestionSignal::Timeout, 1));
    response.on_ack(&ack(0, 1, 200), Some(XI));
    assert_eq!(window(&response), 1_063);
}

#[test]
fn a_loss_leaves_the_configured_share_and_at_least_one_packet() {
    let config = LoadResponseConfig { loss_factor: 0.875, ..config() };
    let mut response = LoadResponse::new(config, Bytes::new(10_000), Bytes::new(1_000)).unwrap();
    response.on_congestion(&signal(CongestionSignal::Loss, 0));
    assert_eq!(window(&response), 8_750);
    response.on_congestion(&signal(CongestionSignal::Timeout, 1));
    response.on_congestion(&signal(CongestionSignal::Loss, 0));
    assert_eq!(window(&response), 1_000);
    for loss_factor in [0.0, 1.0, -0.5, f64::NAN] {
        let config = LoadResponseConfig { loss_factor, ..self::config() };
        let error = LoadResponse::new(config, Bytes::new(10_000), Bytes::new(1_000)).unwrap_err();
        assert!(error.to_string().contains("loss_factor"), "{error}");
    }
}

#[test]
fn small_windows_are_spread_over_long_round_trips() {
    let pacing = |packets, rtt, pace_small_windows| {
        let config = LoadResponseConfig { pace_small_windows, ..config() };
        let mut response = LoadResponse::new(config, MSS * packets, MSS).unwrap();
        response.on_ack(&ack(0, 0, rtt), None);
        response.control()
    };
    // Three packets count as four: 1000 ms / 4 > 100 ms. 1000 bytes each 250 ms.
    let paced = pacing(3, 1000, true);
    assert_eq!(paced.pacing, Pacing::At(Rate::from_bps(32_000)));
    assert_eq!(paced.quantum, MSS);
    assert_eq!(pacing(4, 1000, true).pacing, paced.pacing);
    assert_eq!(pacing(8, 1000, true).pacing, Pacing::At(Rate::from_bps(64_000)));
    // 1000 ms / 16 < 100 ms; 200 ms / 2 = 100 ms; one packet needs no pacing; beyond 64 packets none is
    // paced.
    for (packets, rtt) in [(9, 1000), (2, 200), (1, 1000), (65, 60_000)] {
        assert_eq!(pacing(packets, rtt, true).pacing, Pacing::FromWindow, "{packets} packets, {rtt} ms");
    }
    assert_eq!(
        pacing(64, 6_500, true).pacing,
        Pacing::At(Rate::over(MSS, Duration::from_nanos(101_562_500)))
    );
    assert_eq!(pacing(3, 1000, false).pacing, Pacing::FromWindow);
    assert_eq!(pacing(3, 0, true).pacing, Pacing::FromWindow);
}

#[test]
fn invalid_parameters_are_rejected() {
    let new = |config, window| LoadResponse::new(config, window, MSS);
    assert!(new(config(), MSS).is_ok());
    assert!(new(config(), Bytes::new(999)).is_err());
    assert!(LoadResponse::new(config(), MSS, Bytes::ZERO).is_err());
    assert!(new(LoadResponseConfig { load_factor_interval: Duration::ZERO, ..config() }, MSS).is_err());
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(new(LoadResponseConfig { alpha, ..config() }, MSS).is_err(), "{alpha}");
    }
}

/// Guarded: an overload after the freeze decreases again unless the decrease exceeds the growth of a round
/// trip, (1 - β) window > α, that is, above eight packets.
#[test]
fn a_guarded_sender_decreases_again_if_growth_compensates() {
    for (window, expected) in [(8.0, 7.0), (8.5, 8.5 + 1.0 / 8.5)] {
        let guarded = LoadResponseConfig { after_freeze: AfterFreeze::Guarded, ..config() };
        let mut response = LoadResponse::new(guarded, MSS * 16, MSS).unwrap();
        response.on_ack(&ack(0, 1, 200), Some(Region::Decrease(0.875)));
        response.window = window;
        response.on_ack(&ack(250, 1, 200), Some(Region::Decrease(0.875)));
        assert!((response.window - expected).abs() < 1e-12, "{} for {window}", response.window);
    }
}
