//! Veno's two states.

use airpath_model::{Duration, NullProbe, Timestamp};

use super::*;

const MSS: u64 = 1000;

fn veno() -> Veno {
    Veno::new(VenoConfig::default()).unwrap()
}

/// Returns round-trip times of a path of 100 ms.
fn rtt(latest_ms: u64) -> RttEstimate {
    let mut rtt = AckEvent::at(Timestamp::ZERO).rtt;
    rtt.latest = Duration::from_millis(latest_ms);
    rtt.minimum = Duration::from_millis(100);
    rtt
}

fn acked(latest_ms: u64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    (event.mss, event.acked, event.rtt) = (Bytes::new(MSS), Bytes::new(MSS), rtt(latest_ms));
    event
}

fn kept(signal: CongestionSignal, latest_ms: u64) -> u64 {
    let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
    (event.mss, event.rtt) = (Bytes::new(MSS), rtt(latest_ms));
    veno().reduce(Bytes::new(30 * MSS), &event, &mut NullProbe).get() / MSS
}

#[test]
fn n_is_the_window_minus_the_capacity_of_the_path() {
    // 30 (1 - 100 / 120) = 5 and 30 (1 - 100 / 110) = 2.727272...
    let backlog = |latest| backlog(Bytes::new(30 * MSS), Bytes::new(MSS), &rtt(latest));
    assert!((backlog(120) - 5.0).abs() < 1e-12);
    assert!((backlog(110) - 2.727_272_727_272_727).abs() < 1e-12);
    assert!(backlog(0).abs() < 1e-12);
}

#[test]
fn a_loss_with_a_short_queue_keeps_four_fifths_and_all_other_signals_half() {
    assert_eq!(kept(CongestionSignal::Loss, 110), 24);
    assert_eq!(kept(CongestionSignal::Loss, 120), 15);
    for signal in [CongestionSignal::Timeout, CongestionSignal::EcnCe] {
        assert_eq!(kept(signal, 110), 15);
    }
}

#[test]
fn with_a_long_queue_the_window_grows_in_every_other_round() {
    let mut rule = veno();
    let mut window = Bytes::new(30 * MSS);
    let mut rounds = |latest: u64, count: usize| {
        let mut windows = [0; 4];
        for slot in windows.iter_mut().take(count) {
            for _ in 0..window.get() / MSS {
                window = rule.congestion_avoidance(window, &acked(latest));
            }
            *slot = window.get() / MSS;
        }
        windows
    };
    assert_eq!(rounds(105, 3), [31, 32, 33, 0]);
    assert_eq!(rounds(120, 4), [33, 34, 34, 35]);
    assert_eq!(rounds(105, 2), [36, 37, 0, 0]);
}

#[test]
fn impossible_parameters_are_rejected() {
    let usual = VenoConfig::default();
    for config in [
        VenoConfig { beta: 0.0, ..usual },
        VenoConfig { beta: f64::INFINITY, ..usual },
        VenoConfig { keep: 0.0, ..usual },
        VenoConfig { keep: 1.0, ..usual },
    ] {
        assert!(Veno::new(config).is_err(), "{config:?}");
    }
}
