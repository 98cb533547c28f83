//! ACK-rate samplers and filters, one step at a time: what each acknowledgment and each loss changes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use airpath_estimate::{AckRate, AckRateConfig, FilterConfig, SamplerConfig, Start, WestwoodPlus};
use airpath_model::*;

fn at(ms: u64) -> Timestamp {
    Timestamp::ZERO + Duration::from_millis(ms)
}

fn rated(ms: u64, delivered: u64, app_limited: bool) -> AckEvent {
    let mut event = AckEvent::at(at(ms));
    event.rate = Some(RateSample {
        delivered: Bytes::new(delivered),
        lost: Bytes::ZERO,
        interval: Duration::from_millis(100),
        prior_delivered: Bytes::ZERO,
        app_limited,
    });
    event
}

fn filtered(sampler: SamplerConfig, filter: FilterConfig) -> AckRate {
    AckRate::new(AckRateConfig::Filtered { sampler, filter }).unwrap()
}

fn ack(ms: u64, rtt: u64) -> AckEvent {
    let mut event = AckEvent::at(at(ms));
    (event.mss, event.advance, event.acked) = (Bytes::new(1000), Bytes::new(1000), Bytes::new(1000));
    event.rtt.smoothed = Duration::from_millis(rtt);
    event.rtt.latest = Duration::from_millis(rtt);
    event.rtt_sample = Some(Duration::from_millis(rtt));
    event.latest_sent_at = Some(Timestamp::ZERO);
    event
}

#[test]
fn samples_that_the_application_limited_are_left_out() {
    let mut estimator = filtered(SamplerConfig::DeliveryRate, FilterConfig::None);
    estimator.on_ack(&rated(0, 100_000, false), &mut NullProbe);
    estimator.on_ack(&rated(10, 5_000, true), &mut NullProbe);
    assert_eq!(estimator.bandwidth(), Some(1e6));
}

/// Neighbouring samples cover the same round trip: each stands for the 10 ms since the one before.
#[test]
fn a_delivery_rate_sample_stands_for_the_time_since_the_last() {
    let tau = Duration::from_millis(100);
    let mut estimator =
        filtered(SamplerConfig::DeliveryRate, FilterConfig::ZeroOrderHold { tau, start: Start::First });
    estimator.on_ack(&rated(0, 100_000, false), &mut NullProbe);
    estimator.on_ack(&rated(10, 200_000, false), &mut NullProbe);
    let expected = 1e6 * (2.0 - libm::exp(-0.1));
    assert!((estimator.bandwidth().unwrap() - expected).abs() < 1e-3, "{:?}", estimator.bandwidth());
}

#[test]
fn the_first_slope_is_the_answer_for_ever() {
    let sampler = SamplerConfig::BackToBack { acks: 2, spacing: Duration::ZERO };
    let mut estimator = filtered(sampler, FilterConfig::First);
    for ms in [0, 10, 20, 21] {
        estimator.on_ack(&ack(ms, 40), &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), Some(1e5));
}

#[test]
fn of_an_even_number_the_median_is_the_lower() {
    let mut estimator = filtered(SamplerConfig::PerAck, FilterConfig::Median { window: 2 });
    for ms in [0, 10, 30, 31] {
        estimator.on_ack(&ack(ms, 40), &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), Some(5e4));
}

/// A duplicate in between ends a pair.
#[test]
fn a_duplicate_ends_a_pair() {
    let sampler = SamplerConfig::BackToBack { acks: 2, spacing: Duration::ZERO };
    let mut estimator = filtered(sampler, FilterConfig::None);
    estimator.on_ack(&ack(0, 40), &mut NullProbe);
    let mut duplicate = ack(1, 40);
    (duplicate.duplicate, duplicate.advance) = (true, Bytes::ZERO);
    estimator.on_ack(&duplicate, &mut NullProbe);
    estimator.on_ack(&ack(2, 40), &mut NullProbe);
    assert_eq!(estimator.bandwidth(), None);
}

/// The stand-in for `DynaPara`: a loss at a short round trip changes its coefficient, and timed it counts in round trips.
#[test]
fn the_estimator_hands_losses_on() {
    for (timed, kept) in [(false, 0.5), (true, libm::sqrt(0.5))] {
        let mut estimator =
            filtered(SamplerConfig::PerAck, FilterConfig::TwoState { good: 0.9, bad: 0.5, timed });
        assert_eq!(estimator.requirements().rtt, timed);
        for (ms, rtt) in [(0, 40), (10, 60), (20, 40)] {
            estimator.on_ack(&ack(ms, rtt), &mut NullProbe);
        }
        let mut loss = CongestionEvent::at(at(20), CongestionSignal::Loss);
        loss.rtt.latest = Duration::from_millis(40);
        estimator.on_congestion(&loss);
        // 1000 bytes in 20 ms after 1000 bytes in 10 ms.
        estimator.on_ack(&ack(40, 40), &mut NullProbe);
        estimator.on_ack(&ack(41, 40), &mut NullProbe);
        let expected = kept * 1e5 + (1.0 - kept) * 5e4;
        assert!((estimator.bandwidth().unwrap() - expected).abs() < 1e-6, "{:?}", estimator.bandwidth());
    }
}

/// Of captures, where the option is missing on some packets.
#[test]
fn data_without_a_stamp_counts_in_the_next_sample() {
    let sampler = SamplerConfig::ReceiverClock { resolution: Duration::from_millis(1) };
    let mut estimator = filtered(sampler, FilterConfig::None);
    for (ms, stamped) in [(0, true), (10, false), (20, true)] {
        let mut event = ack(ms, 40);
        event.receiver_time = stamped.then_some(at(ms));
        estimator.on_ack(&event, &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), Some(1e5));
}

#[test]
fn a_timeout_has_westwood_plus_learn_the_smallest_rtt_anew() {
    let mut westwood = WestwoodPlus::new(1000).unwrap();
    for (ms, rtt) in [(0, 40), (10, 40), (20, 40), (30, 90)] {
        westwood.on_ack(&ack(ms, rtt));
    }
    assert_eq!(westwood.minimum_rtt(), Some(Duration::from_millis(40)));
    westwood.on_congestion(CongestionSignal::Timeout);
    westwood.on_ack(&ack(40, 90));
    assert_eq!(westwood.minimum_rtt(), Some(Duration::from_millis(90)));
}
