//! Tests of the whole estimator: what activates it, its action at each interval, and the effect of a loss.

use super::*;

/// Base round trip 500 ms, 632 ms with a full queue (3300 kB at 200 Mbit/s).
const BASE: f64 = 0.5;
const FULL: f64 = 0.632;

fn rtt(latest: f64) -> RttEstimate {
    let [latest, minimum] = [latest, BASE].map(Duration::from_secs_f64);
    RttEstimate { latest, smoothed: latest, variation: Duration::ZERO, minimum }
}

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_secs_f64(seconds)
}

fn ebe(config: EbeCeilingConfig) -> EbeCeiling {
    EbeCeiling::new(config).unwrap()
}

/// Reports an acknowledgment every 5 ms with that round-trip time, up to `end`; returns the maintainer's
/// factor after each.
fn acknowledge(ebe: &mut EbeCeiling, from: f64, end: f64, latest: f64) -> alloc::vec::Vec<f64> {
    let count = libm::round((end - from) / 0.005) as u32;
    (1..=count)
        .map(|number| {
            ebe.on_ack(at(from + 0.005 * f64::from(number)), 900.0, &rtt(latest));
            ebe.probing()
        })
        .collect()
}

fn is_one(factor: f64) -> bool {
    (factor - 1.0).abs() < 1e-12
}

#[test]
fn before_a_loss_there_is_no_estimate_and_no_probing() {
    let mut ebe = ebe(EbeCeilingConfig::default());
    assert!(acknowledge(&mut ebe, 0.0, 5.0, BASE).into_iter().all(is_one));
    assert_eq!(ebe.ceiling(), None);
}

#[test]
fn probing_starts_in_the_second_interval_with_a_short_queue_after_the_pause() {
    let mut ebe = ebe(EbeCeilingConfig::default());
    acknowledge(&mut ebe, 0.0, 1.0, FULL);
    ebe.on_loss(at(1.0), 1000.0, &rtt(FULL));
    let factors = acknowledge(&mut ebe, 1.0, 3.0, BASE);
    let first = factors.iter().position(|factor| *factor > 1.0).unwrap();
    // Intervals end at 5 ms and every 200 ms after. The maintainer is inactive until 1.632 s. The intervals
    // that end at 1.805 and 2.005 s count, and the second turns it on.
    let on: f64 = 1.0 + 0.005 * (first + 1) as f64;
    assert!((on - 2.005).abs() < 1e-9, "{on}");
    assert!((factors[first] - 2.0).abs() < 1e-12);
    // A growing queue above the threshold, twice, turns it off.
    acknowledge(&mut ebe, 3.0, 3.4, BASE + 0.05);
    assert!(is_one(*acknowledge(&mut ebe, 3.4, 3.8, BASE + 0.08).last().unwrap()));
}

/// The first interval begins with the first round-trip time and ends 200 ms later.
#[test]
fn the_end_of_an_interval_and_its_mean_are_reported() {
    let mut ebe = ebe(EbeCeilingConfig::default());
    ebe.on_loss(at(0.0), 1000.0, &rtt(FULL));
    assert!(!ebe.on_ack(at(0.005), 900.0, &rtt(BASE)));
    assert!(!ebe.on_ack(at(0.2), 900.0, &rtt(FULL)));
    assert!(ebe.on_ack(at(0.205), 900.0, &rtt(FULL)));
    let mut mean = None;
    ebe.observe(&mut |name, value| {
        if name == "interval_rtt_s" {
            mean = Some(value);
        }
    });
    // Of the samples, one every 10 ms, only the twentieth was taken after 200 ms.
    let expected = (19.0 * BASE + FULL) / 20.0;
    assert!((mean.unwrap() - expected).abs() < 1e-12, "{mean:?}");
}

#[test]
fn a_slightly_shorter_round_trip_corrects_nothing() {
    let mut ebe = ebe(EbeCeilingConfig::default());
    ebe.on_loss(at(0.0), 1000.0, &rtt(FULL));
    acknowledge(&mut ebe, 0.0, 1.0, 0.9 * FULL);
    assert!((ebe.ceiling().unwrap() - 1000.0).abs() < 1e-9);
}

#[test]
fn a_loss_ends_probing() {
    let mut ebe = ebe(EbeCeilingConfig::default());
    ebe.on_loss(at(0.0), 1000.0, &rtt(FULL));
    acknowledge(&mut ebe, 0.0, 3.0, BASE);
    assert!(!is_one(ebe.probing()));
    ebe.on_loss(at(3.0), 1000.0, &rtt(FULL));
    assert!(is_one(ebe.probing()));
}

#[test]
fn the_literal_threshold_never_binds_on_a_long_path() {
    let config = EbeCeilingConfig { rtt_threshold: RttThreshold::Literal, ..EbeCeilingConfig::default() };
    let mut ebe = ebe(config);
    ebe.on_loss(at(0.0), 1000.0, &rtt(FULL));
    assert!(acknowledge(&mut ebe, 0.0, 20.0, BASE).into_iter().all(is_one));
}

#[test]
fn a_round_trip_longer_than_at_the_loss_lowers_the_ceiling_at_the_plateau() {
    // λ = 0.1 is between 0 and Ω, and 900 is within 30 % of 1000.
    let run = |profile| {
        let mut ebe = ebe(EbeCeilingConfig { profile, ..EbeCeilingConfig::default() });
        ebe.on_loss(at(0.0), 1000.0, &rtt(FULL));
        acknowledge(&mut ebe, 0.0, 1.0, 1.1 * FULL);
        ebe.ceiling().unwrap()
    };
    // One correction in the first second, by 10 % to 900. With J12 = -1000/0.632 and P22 = 1e-4, P-11 is 251.4
    // against R = 50^2, so that K1 = 0.09136 of the way back to z = 1000.
    let recommended = run(CeilingProfile::Recommended);
    assert!((recommended - 909.136).abs() < 1e-3, "{recommended}");
    // Without a filter the ceiling stays at its value after the loss.
    assert!((run(CeilingProfile::None) - 1000.0).abs() < 1e-9);
    // As printed, z is the filter's own last output and K is near 1: the correction is undone.
    let journal = run(CeilingProfile::Journal);
    assert!((journal - 1000.0).abs() < 1.0, "{journal}");
}

#[test]
fn samples_without_a_round_trip_time_yield_no_ceiling() {
    let mut ebe = ebe(EbeCeilingConfig::default());
    ebe.on_loss(at(0.0), 1000.0, &RttEstimate::default());
    ebe.on_ack(at(1.0), 10.0, &RttEstimate::default());
    ebe.on_ack(at(2.0), 10.0, &RttEstimate::default());
    assert_eq!(ebe.ceiling(), None);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let good = EbeCeilingConfig::default();
    let trigger = |epsilon, omega, nu| EbeCeilingConfig { trigger: Trigger { epsilon, omega, nu }, ..good };
    for (parameter, config) in [
        ("epsilon", trigger(0.0, 0.2, 0.5)),
        ("omega", trigger(0.3, 0.6, 0.5)),
        ("nu", trigger(0.3, 0.2, 1.0)),
        ("threshold", EbeCeilingConfig { threshold: 0.0, ..good }),
        ("upsilon", EbeCeilingConfig { upsilon: 0.9, ..good }),
        ("hold_off", EbeCeilingConfig { hold_off: -1.0, ..good }),
        ("sampling", EbeCeilingConfig { sampling: Duration::ZERO, ..good }),
        ("interval", EbeCeilingConfig { interval: Duration::from_millis(5), ..good }),
    ] {
        assert_eq!(EbeCeiling::new(config).unwrap_err().parameter, parameter);
    }
}

/// An acknowledgment without a round-trip time does not change the mean of its interval.
#[test]
fn a_round_trip_time_of_zero_is_ignored() {
    let mut ebe = ebe(EbeCeilingConfig::default());
    ebe.on_loss(at(0.0), 1000.0, &rtt(FULL));
    acknowledge(&mut ebe, 0.0, 0.3, FULL);
    ebe.on_ack(at(0.302), 900.0, &rtt(0.0));
    acknowledge(&mut ebe, 0.31, 0.45, FULL); // the last interval ends at 0.405 s
    let mut means = 0;
    ebe.observe(&mut |name, value| {
        if name == "interval_rtt_s" {
            assert!((value - FULL).abs() < 1e-9, "{value}");
            means += 1;
        }
    });
    assert_eq!(means, 1);
}
