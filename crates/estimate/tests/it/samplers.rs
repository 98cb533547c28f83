//! ACK-rate samplers and filters, one step at a time: the effect of each acknowledgment and each loss.

use airpath_estimate::{
    AckRate, AckRateConfig, FilterConfig, SamplerConfig, Start, VirtualSamples, WestwoodPlus,
};
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
fn application_limited_samples_are_ignored() {
    let mut estimator = filtered(SamplerConfig::DeliveryRate, FilterConfig::None);
    estimator.on_ack(&rated(0, 100_000, false), &mut NullProbe);
    estimator.on_ack(&rated(10, 5_000, true), &mut NullProbe);
    assert_eq!(estimator.bandwidth(), Some(1e6));
}

/// Successive samples cover the same round trip: the interval of each sample is the 10 ms since the previous
/// one.
#[test]
fn a_delivery_rate_sample_covers_the_time_since_the_last() {
    let tau = Duration::from_millis(100);
    let mut estimator =
        filtered(SamplerConfig::DeliveryRate, FilterConfig::ZeroOrderHold { tau, start: Start::First });
    estimator.on_ack(&rated(0, 100_000, false), &mut NullProbe);
    estimator.on_ack(&rated(10, 200_000, false), &mut NullProbe);
    let expected = 1e6 * (2.0 - libm::exp(-0.1));
    assert!((estimator.bandwidth().unwrap() - expected).abs() < 1e-3, "{:?}", estimator.bandwidth());
}

#[test]
fn the_first_slope_remains_the_estimate() {
    let sampler = SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_nanos(1) };
    let mut estimator = filtered(sampler, FilterConfig::First);
    for ms in [0, 10, 20, 21] {
        estimator.on_ack(&ack(ms, 40), &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), Some(1e5));
}

#[test]
fn the_median_of_an_even_number_is_the_lower_one() {
    let mut estimator = filtered(SamplerConfig::PerAck, FilterConfig::Median { window: 2 });
    for ms in [0, 10, 30, 31] {
        estimator.on_ack(&ack(ms, 40), &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), Some(5e4));
}

#[test]
fn the_median_is_of_the_last_samples() {
    let mut estimator = filtered(SamplerConfig::PerAck, FilterConfig::Median { window: 3 });
    // 1000 bytes in 10, 20, 5, 4 and 3 ms; the next instant completes each one.
    let medians: Vec<_> = [0, 10, 30, 35, 39, 42, 43]
        .into_iter()
        .filter_map(|ms| {
            estimator.on_ack(&ack(ms, 40), &mut NullProbe);
            estimator.bandwidth()
        })
        .map(|median| libm::round(median) as u64)
        .collect();
    assert_eq!(medians, [100_000, 50_000, 100_000, 200_000, 250_000]);
}

/// GM eq. 6 with a time constant that is not its own inverse.
#[test]
fn the_bilinear_filter_matches_the_paper() {
    let (tau, virtual_samples, start) = (Duration::from_millis(100), VirtualSamples::None, Start::First);
    let filter = FilterConfig::Bilinear { tau, virtual_samples, start };
    let mut estimator = filtered(SamplerConfig::PerAck, filter);
    for ms in [0, 10, 30, 31] {
        estimator.on_ack(&ack(ms, 40), &mut NullProbe);
    }
    let expected = ((0.2 - 0.02) * 1e5 + 0.02 * (5e4 + 1e5)) / (0.2 + 0.02);
    assert!((estimator.bandwidth().unwrap() - expected).abs() < 1e-6, "{:?}", estimator.bandwidth());
}

/// Readers of captures rely on these requirements to supply each estimator with the required information.
#[test]
fn estimators_declare_their_requirements() {
    let needs = |sampler, filter| filtered(sampler, filter).requirements();
    let none = AckRateRequirements::default();
    let (ms, plain) = (Duration::from_millis(1), FilterConfig::None);
    assert_eq!(needs(SamplerConfig::PerAck, plain), none);
    let rtt = SamplerConfig::RoundTrip;
    assert_eq!(needs(rtt, plain), AckRateRequirements { rtt: true, ..none });
    let receiver = SamplerConfig::ReceiverClock { resolution: ms };
    assert_eq!(needs(receiver, plain), AckRateRequirements { receiver_time: true, ..none });
    let rates = AckRateRequirements { rate_samples: true, ..none };
    assert_eq!(needs(SamplerConfig::DeliveryRate, plain), rates);
    let pairs = SamplerConfig::BackToBack { acks: 2, spacing: ms };
    assert_eq!(needs(pairs, plain), AckRateRequirements { sending_times: true, ..none });
    let westwood_plus = AckRate::new(AckRateConfig::WestwoodPlus { ticks_per_second: 1000 }).unwrap();
    assert_eq!(westwood_plus.requirements(), AckRateRequirements { rtt: true, ..none });
}

/// Returns the estimate after acknowledgments of 1000 bytes at those times, each of a packet sent at the
/// given time (ms).
fn slope(acks: u8, spacing: u64, events: &[(u64, u64)]) -> Option<u64> {
    let sampler = SamplerConfig::BackToBack { acks, spacing: Duration::from_millis(spacing) };
    let mut estimator = filtered(sampler, FilterConfig::None);
    for (ms, sent) in events {
        let mut event = ack(*ms, 40);
        event.latest_sent_at = Some(at(*sent));
        estimator.on_ack(&event, &mut NullProbe);
    }
    estimator.bandwidth().map(|slope| libm::round(slope) as u64)
}

#[test]
fn back_to_back_packets_directly_follow_each_other() {
    assert_eq!(slope(3, 1, &[(50, 0), (60, 1), (70, 2)]), Some(100_000));
    assert_eq!(slope(3, 1, &[(50, 0), (60, 1), (70, 3)]), None);
    // A packet that was sent earlier is not back to back.
    assert_eq!(slope(2, 1, &[(50, 1), (60, 0)]), None);
    assert_eq!(slope(2, 1, &[(50, 1), (60, 0), (64, 1)]), Some(250_000));
}

/// A window update is such an acknowledgment.
#[test]
fn an_acknowledgment_without_data_ends_a_pair() {
    let sampler = SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_nanos(1) };
    let mut estimator = filtered(sampler, FilterConfig::None);
    for (ms, advance) in [(0, 1000), (1, 0), (2, 1000)] {
        let mut event = ack(ms, 40);
        event.advance = Bytes::new(advance);
        estimator.on_ack(&event, &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), None);
}

/// A duplicate in between ends a pair.
#[test]
fn a_duplicate_ends_a_pair() {
    let sampler = SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_nanos(1) };
    let mut estimator = filtered(sampler, FilterConfig::None);
    estimator.on_ack(&ack(0, 40), &mut NullProbe);
    let mut duplicate = ack(1, 40);
    (duplicate.duplicate, duplicate.advance) = (true, Bytes::ZERO);
    estimator.on_ack(&duplicate, &mut NullProbe);
    estimator.on_ack(&ack(2, 40), &mut NullProbe);
    assert_eq!(estimator.bandwidth(), None);
}

/// The substitute for `DynaPara`: a loss at a short round trip changes its coefficient, and with `timed` the
/// coefficient applies per round trip.
#[test]
fn the_estimator_forwards_losses() {
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

#[test]
fn in_the_good_state_the_coefficient_is_that_of_the_good_state() {
    let filter = FilterConfig::TwoState { good: 0.9, bad: 0.5, timed: false };
    let mut estimator = filtered(SamplerConfig::PerAck, filter);
    for ms in [0, 10, 30, 31] {
        estimator.on_ack(&ack(ms, 40), &mut NullProbe);
    }
    let expected = 0.9 * 1e5 + 0.1 * 5e4;
    assert!((estimator.bandwidth().unwrap() - expected).abs() < 1e-6, "{:?}", estimator.bandwidth());
}

/// Captures contain packets without the option.
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
fn a_timeout_resets_the_smallest_rtt_of_westwood_plus() {
    let mut westwood = WestwoodPlus::new(1000).unwrap();
    for (ms, rtt) in [(0, 40), (10, 40), (20, 40), (30, 90)] {
        westwood.on_ack(&ack(ms, rtt));
    }
    assert_eq!(westwood.minimum_rtt(), Some(Duration::from_millis(40)));
    westwood.on_congestion(CongestionSignal::Timeout);
    westwood.on_ack(&ack(40, 90));
    assert_eq!(westwood.minimum_rtt(), Some(Duration::from_millis(90)));
}
