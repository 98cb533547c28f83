//! H-TCP's α and β compared with values computed by hand.

use airpath_model::{CongestionSignal, NullProbe};

use super::*;

const MSS: u64 = 1000;

fn htcp() -> Htcp {
    Htcp::new(HtcpConfig::default()).unwrap()
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

#[test]
fn alpha_is_that_of_standard_tcp_for_a_second_and_then_a_parabola() {
    let rule = htcp();
    let reference = seconds(0.1);
    // 2 (1 - 0.5) = 1.
    close(rule.alpha(seconds(0.0), reference), 1.0);
    close(rule.alpha(seconds(1.0), reference), 1.0);
    // 1 + 10 * 2 + 1^2 = 22; 1 + 10 * 0.5 + 0.25^2 = 6.0625.
    close(rule.alpha(seconds(3.0), reference), 22.0);
    close(rule.alpha(seconds(1.5), reference), 6.0625);
    // A smaller decrease gives a slower increase: 2 (1 - 0.8) * 22.
    let gentle = Htcp { beta: 0.8, ..htcp() };
    close(gentle.alpha(seconds(3.0), reference), 8.8);
}

#[test]
fn rtt_scaling_is_in_proportion_within_bounds_and_never_below_standard_tcp() {
    let rule = htcp();
    close(rule.alpha(seconds(3.0), seconds(0.05)), 11.0);
    close(rule.alpha(seconds(3.0), seconds(0.5)), 44.0);
    close(rule.alpha(seconds(3.0), seconds(0.001)), 2.2);
    close(rule.alpha(seconds(0.5), seconds(0.05)), 1.0);
    close(rule.alpha(seconds(0.5), seconds(0.5)), 2.0);
    let plain = Htcp::new(HtcpConfig { rtt_scaling: false, ..HtcpConfig::default() }).unwrap();
    close(plain.alpha(seconds(3.0), seconds(0.5)), 22.0);
}

/// Simulates a flow over a path of 100 ms with a round trip of `rtt` in which `acked` segments are
/// acknowledged, for ten seconds, and then a loss. Returns β.
fn epoch(rule: &mut Htcp, start: f64, rtt: f64, acked: u64) -> f64 {
    let rounds = (10.0 / rtt).ceil() as u64;
    let mut now = start;
    for round in 0..rounds {
        now = start + rtt * round as f64;
        let mut event = AckEvent::at(Timestamp::from_secs_f64(now));
        (event.mss, event.acked) = (Bytes::new(MSS), Bytes::new(acked * MSS));
        // The round numbers only need to differ.
        event.round = now.to_bits();
        (event.rtt.minimum, event.rtt.smoothed) = (seconds(0.1), seconds(rtt));
        rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    }
    let mut event = CongestionEvent::at(Timestamp::from_secs_f64(now), CongestionSignal::Loss);
    (event.mss, event.rtt.minimum) = (Bytes::new(MSS), seconds(0.1));
    let reduced = rule.reduce(Bytes::new(1000 * MSS), &event, &mut NullProbe);
    assert_eq!(reduced, Bytes::new(1000 * MSS).mul_f64(rule.beta));
    rule.beta
}

#[test]
fn beta_is_the_ratio_of_round_trip_times_from_the_second_steady_signal_on() {
    let mut rule = htcp();
    // First no previous throughput, then the first steady signal, then 0.1 / 0.16. The last value is the
    // same, because 5 % of 0.06 s are dropped and reached again.
    for (start, expected) in [(0.0, 0.5), (10.0, 0.5), (20.0, 0.625), (30.0, 0.625)] {
        close(epoch(&mut rule, start, 0.16, 160), expected);
    }
    // A quarter less throughput, then steady again.
    for (start, expected) in [(40.0, 0.5), (50.0, 0.5), (60.0, 0.625)] {
        close(epoch(&mut rule, start, 0.16, 120), expected);
    }
}

#[test]
fn beta_stays_within_its_bounds() {
    for (rtt, expected) in [(0.4, 0.5), (0.11, 0.8)] {
        let mut rule = htcp();
        for start in [0.0, 10.0] {
            epoch(&mut rule, start, rtt, 100);
        }
        close(epoch(&mut rule, 20.0, rtt, 100), expected);
    }
}

#[test]
fn the_longest_round_trip_time_decays() {
    let mut rule = htcp();
    for start in [0.0, 10.0, 20.0] {
        epoch(&mut rule, start, 0.16, 160);
    }
    // From 160 ms: 100 + 60 * 0.95^3 = 151.4425 ms is kept, 100 + 60 * 0.95^2 at the last computation of β.
    close(rule.rtt_max.as_secs_f64(), 0.157);
    close(epoch(&mut rule, 30.0, 0.125, 125), 0.1 / 0.157);
    close(rule.rtt_max.as_secs_f64(), 0.1 + 0.057 * 0.95);
}

#[test]
fn time_counts_from_the_end_of_recovery() {
    let mut rule = htcp();
    let mut event = AckEvent::at(Timestamp::from_secs_f64(5.0));
    (event.mss, event.acked, event.in_recovery) = (Bytes::new(MSS), Bytes::new(MSS), true);
    (event.rtt.minimum, event.rtt.smoothed) = (seconds(0.1), seconds(0.1));
    rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    (event.now, event.in_recovery) = (Timestamp::from_secs_f64(8.0), false);
    rule.on_ack(Bytes::ZERO, &event, &mut NullProbe);
    event.acked = Bytes::new(100 * MSS);
    // α(3 s) = 22 segments per window.
    assert_eq!(rule.congestion_avoidance(Bytes::new(100 * MSS), &event), Bytes::new(122 * MSS));
}

#[test]
fn impossible_parameters_are_rejected() {
    let usual = HtcpConfig::default();
    for config in [
        HtcpConfig { delta_l: Duration::ZERO, ..usual },
        HtcpConfig { delta_b: -0.1, ..usual },
        HtcpConfig { beta_min: 0.9, ..usual },
        HtcpConfig { beta_min: 0.0, ..usual },
        HtcpConfig { beta_max: 1.0, ..usual },
    ] {
        assert!(Htcp::new(config).is_err(), "{config:?}");
    }
}
