//! Properties of every ACK-rate estimator for any list of events, and further properties of some estimators.

use airpath_estimate::{AckRate, AckRateConfig, FilterConfig, SamplerConfig, Start, VirtualSamples};
use airpath_model::{
    AckEvent, AckRateEstimator, Bytes, CongestionEvent, CongestionSignal, Duration, Measurement, NullProbe,
    Probe, RateSample, Timestamp,
};
use proptest::prelude::*;

const MSS: u64 = 1000;

fn samplers() -> Vec<SamplerConfig> {
    let mut all = vec![
        SamplerConfig::PerAck,
        SamplerConfig::RoundTrip,
        SamplerConfig::Interval { interval: Duration::from_millis(10) },
        SamplerConfig::DeliveryRate,
        SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_micros(100) },
        SamplerConfig::BackToBack { acks: 3, spacing: Duration::from_millis(100) },
    ];
    for resolution in [1, 1_000, 10_000] {
        all.push(SamplerConfig::ReceiverClock { resolution: Duration::from_micros(resolution) });
    }
    all
}

fn filters() -> Vec<FilterConfig> {
    let tau = Duration::from_secs(1);
    let mut all = vec![
        FilterConfig::None,
        FilterConfig::First,
        FilterConfig::Median { window: 5 },
        FilterConfig::Stability { beta: 0.8, window: 8 },
        FilterConfig::TwoState { good: 0.9, bad: 0.6, timed: false },
        FilterConfig::TwoState { good: 0.5, bad: 0.2, timed: true },
    ];
    for start in [Start::First, Start::Zero] {
        all.push(FilterConfig::ZeroOrderHold { tau, start });
        all.push(FilterConfig::TimeInvariant { alpha: 0.9, start });
        for virtual_samples in [VirtualSamples::None, VirtualSamples::Zero, VirtualSamples::Held] {
            all.push(FilterConfig::Bilinear { tau, virtual_samples, start });
        }
    }
    all
}

/// Checks the names, because the simulator's test of completeness reads this list.
#[test]
fn the_list_of_ack_rate_estimators_is_that_of_the_suite() {
    let samplers = samplers().into_iter().map(|sampler| format!("sampler {sampler:?}"));
    let filters = filters().into_iter().map(|filter| format!("filter {filter:?}"));
    let rates = every_estimator().into_iter().filter(|rate| !matches!(rate, AckRateConfig::Filtered { .. }));
    let names: Vec<_> = samplers.chain(filters).chain(rates.map(|rate| format!("{rate:?}"))).collect();
    let listed = include_str!("../../../../golden/suites/ack_rates.txt");
    assert_eq!(names, listed.lines().collect::<Vec<_>>());
}

/// Returns every sampler with every filter, and Westwood+.
fn every_estimator() -> Vec<AckRateConfig> {
    let mut all: Vec<AckRateConfig> = [20, 250, 1000, 1_000_000]
        .map(|ticks_per_second| AckRateConfig::WestwoodPlus { ticks_per_second })
        .into();
    for sampler in samplers() {
        all.extend(filters().into_iter().map(|filter| AckRateConfig::Filtered { sampler, filter }));
    }
    all
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a list in a test")]
enum Input {
    Ack(AckEvent),
    Congestion(CongestionSignal, u64),
}

/// Events in time order, from equal times to centuries apart, with amounts from zero to more than the
/// capacity of any path.
fn events() -> impl Strategy<Value = Vec<Input>> {
    let gap = prop_oneof![Just(0_u64), 1..10_000_u64, 1..1_000_000_000_u64, Just(u64::MAX / 50)];
    let amount = prop_oneof![Just(0_u64), 1..100_000_u64, Just(u64::MAX / 50), Just(u64::MAX)];
    let rtt = prop_oneof![Just(0_u64), 1..5_000_000_000_u64, Just(u64::MAX)];
    let stamp = prop::option::of(prop_oneof![0..10_000_000_000_u64, Just(u64::MAX)]);
    let one = (gap, amount, rtt, stamp, 0..12_u8, any::<bool>());
    prop::collection::vec(one, 0..60).prop_map(|list| {
        let mut now = Timestamp::ZERO;
        list.into_iter()
            .map(|(gap, amount, rtt, stamp, kind, flag)| {
                now += Duration::from_nanos(gap);
                match kind {
                    0 => return Input::Congestion(CongestionSignal::Loss, rtt),
                    1 => return Input::Congestion(CongestionSignal::Timeout, rtt),
                    _ => {}
                }
                let mut event = AckEvent::at(now);
                event.mss = Bytes::new(if flag { MSS } else { amount });
                event.duplicate = kind == 2;
                event.advance = Bytes::new(if event.duplicate { 0 } else { amount });
                event.acked = Bytes::new(amount);
                event.rtt.smoothed = Duration::from_nanos(rtt);
                event.rtt.latest = Duration::from_nanos(rtt);
                event.rtt_sample = flag.then_some(Duration::from_nanos(rtt));
                event.receiver_time = stamp.map(Timestamp::from_nanos);
                event.latest_sent_at = (kind != 3).then_some(now - Duration::from_nanos(rtt));
                event.rate = (kind > 5).then_some(RateSample {
                    delivered: Bytes::new(amount),
                    lost: Bytes::ZERO,
                    interval: Duration::from_nanos(gap),
                    prior_delivered: Bytes::ZERO,
                    app_limited: flag,
                });
                Input::Ack(event)
            })
            .collect()
    })
}

/// A probe that records its measurements.
#[derive(Default)]
struct Recorder {
    samples: Vec<f64>,
    estimates: Vec<f64>,
}

impl Probe for Recorder {
    fn record(&mut self, _now: Timestamp, measurement: Measurement) {
        match measurement {
            Measurement::BandwidthSample(sample) => self.samples.push(sample),
            Measurement::Bandwidth(estimate) => self.estimates.push(estimate),
            other => panic!("not telemetry of an estimator: {other:?}"),
        }
    }
}

fn feed(estimator: &mut AckRate, told: &Input, now: &mut Timestamp, probe: &mut dyn Probe) {
    match told {
        Input::Ack(event) => {
            *now = event.now;
            estimator.on_ack(event, probe);
        }
        Input::Congestion(signal, rtt) => {
            let mut event = CongestionEvent::at(*now, *signal);
            event.rtt.latest = Duration::from_nanos(*rtt);
            estimator.on_congestion(&event);
        }
    }
}

proptest! {
    #[test]
    fn estimates_are_finite_and_not_negative(events in events()) {
        for config in every_estimator() {
            let mut estimator = AckRate::new(config).unwrap();
            prop_assert_eq!(estimator.bandwidth(), None);
            let mut heard = Recorder::default();
            let mut now = Timestamp::ZERO;
            for told in &events {
                let reports = heard.estimates.len();
                let before = estimator.bandwidth();
                feed(&mut estimator, told, &mut now, &mut heard);
                let answer = estimator.bandwidth();
                prop_assert!(answer.is_none_or(|value| value.is_finite() && value >= 0.0), "{config:?}: {answer:?}");
                // The probe receives each change and no other reports.
                if heard.estimates.len() > reports {
                    prop_assert_eq!(answer.or(Some(0.0)), heard.estimates.last().copied(), "{:?}", config);
                } else {
                    prop_assert_eq!(answer, before, "{:?}", config);
                }
            }
            prop_assert_eq!(heard.samples.len(), heard.estimates.len());
            prop_assert!(heard.samples.iter().all(|value| value.is_finite() && *value >= 0.0), "{config:?}");
        }
    }

    /// All filters are linear or, like SARBE's, choose their coefficient by ratios: k times the data gives k
    /// times the estimate. Westwood+ in Linux rounds, and is left out.
    #[test]
    fn the_estimate_scales_with_the_data(
        gaps in prop::collection::vec((0..50_000_000_u64, 1..40_u64), 2..80),
        scale in 2..50_u64,
    ) {
        for config in every_estimator() {
            if matches!(config, AckRateConfig::WestwoodPlus { .. }) {
                continue;
            }
            let run = |scale: u64| {
                let mut estimator = AckRate::new(config).unwrap();
                let mut now = Timestamp::ZERO;
                for &(gap, segments) in &gaps {
                    now += Duration::from_nanos(gap);
                    let amount = Bytes::new(segments * MSS * scale);
                    estimator.on_ack(&plain_ack(now, amount, MSS * scale), &mut NullProbe);
                }
                estimator.bandwidth()
            };
            let (once, scaled) = (run(1), run(scale));
            if let Some((once, scaled)) = once.zip(scaled) {
                let expected = once * scale as f64;
                // A bilinear filter without virtual samples may cancel almost completely.
                let close = (scaled - expected).abs() <= 1e-9 * expected + 1e-3;
                prop_assert!(close, "{config:?}: {scaled} {expected}");
            } else {
                prop_assert_eq!(once, scaled);
            }
        }
    }

    /// The same data at the same rate, divided arbitrarily: a constant rate is a fixed point of every
    /// estimator.
    #[test]
    fn every_estimator_reproduces_a_constant_rate(pieces in prop::collection::vec(1..20_u64, 60..120)) {
        const BYTES_PER_SECOND: f64 = 1e6;
        for config in every_estimator() {
            let from_zero = matches!(
                config,
                AckRateConfig::Filtered {
                    filter: FilterConfig::ZeroOrderHold { start: Start::Zero, .. }
                        | FilterConfig::TimeInvariant { start: Start::Zero, .. }
                        | FilterConfig::Bilinear { start: Start::Zero, .. },
                    ..
                }
            );
            // From zero, convergence takes several time constants. In whole bytes per tick, and with 10-ms
            // ticks, the rate is not constant.
            let rounded = matches!(
                config,
                AckRateConfig::WestwoodPlus { .. }
                    | AckRateConfig::Filtered { sampler: SamplerConfig::ReceiverClock { .. }, .. }
            );
            if from_zero || rounded {
                continue;
            }
            let mut estimator = AckRate::new(config).unwrap();
            let mut now = Timestamp::from_nanos(1_000_000);
            estimator.on_ack(&plain_ack(now, Bytes::new(MSS), MSS), &mut NullProbe);
            for &segments in &pieces {
                now += Duration::from_millis(segments);
                estimator.on_ack(&plain_ack(now, Bytes::new(segments * MSS), MSS), &mut NullProbe);
            }
            let answer = estimator.bandwidth().unwrap();
            prop_assert!((answer - BYTES_PER_SECOND).abs() < 1e-6 * BYTES_PER_SECOND, "{config:?}: {answer}");
        }
    }
}

/// Returns an acknowledgment of in-order data that was sent 40 ms ago in one burst, with all information that
/// a driver can supply.
fn plain_ack(now: Timestamp, amount: Bytes, mss: u64) -> AckEvent {
    let mut event = AckEvent::at(now);
    event.mss = Bytes::new(mss);
    event.advance = amount;
    event.acked = amount;
    event.rtt.smoothed = Duration::from_millis(40);
    event.rtt_sample = Some(Duration::from_millis(40));
    event.receiver_time = Some(now);
    event.latest_sent_at = Some(Timestamp::ZERO);
    let interval = Duration::from_millis((amount.get() / mss).max(1));
    event.rate = Some(RateSample {
        delivered: amount,
        lost: Bytes::ZERO,
        interval,
        prior_delivered: Bytes::ZERO,
        app_limited: false,
    });
    event
}

fn filtered(sampler: SamplerConfig, filter: FilterConfig) -> AckRate {
    AckRate::new(AckRateConfig::Filtered { sampler, filter }).unwrap()
}

/// Two delayed acknowledgments arrive back to back on a reverse link of 5 Mbit/s with headers of 40 bytes:
/// 375 Mbit/s, the largest sample of GM, Fig. 3.
#[test]
fn compressed_acknowledgments_show_the_reverse_link() {
    let mut estimator = filtered(SamplerConfig::PerAck, FilterConfig::None);
    for i in 0..4 {
        let now = Timestamp::from_nanos(1_000_000_000 + 64_000 * i);
        estimator.on_ack(&plain_ack(now, Bytes::new(3000), 1500), &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth().map(|rate| rate * 8.0), Some(375e6));
}

/// A scheduler delivers 16 packets in one millisecond of ten: single samples contain its bursts, windows of
/// 10 ms the mean.
#[test]
fn accumulation_over_the_scheduling_interval_removes_bursts() {
    let run = |sampler| {
        let mut estimator =
            filtered(sampler, FilterConfig::TimeInvariant { alpha: 0.9, start: Start::First });
        for burst in 0..200_u64 {
            for packet in 0..16_u64 {
                let now = Timestamp::from_nanos(10_000_000 * burst + 62_500 * packet);
                estimator.on_ack(&plain_ack(now, Bytes::new(MSS), MSS), &mut NullProbe);
            }
        }
        estimator.bandwidth().unwrap() / 1.6e6
    };
    let single = run(SamplerConfig::PerAck);
    assert!(single > 5.0, "{single}");
    let accumulated = run(SamplerConfig::Interval { interval: Duration::from_millis(10) });
    assert!((accumulated - 1.0).abs() < 1e-6, "{accumulated}");
}

/// Timestamps do not depend on the reverse path.
#[test]
fn receiver_timestamps_are_unaffected_by_compression() {
    let mut stamped = filtered(
        SamplerConfig::ReceiverClock { resolution: Duration::from_micros(1) },
        FilterConfig::Stability { beta: 0.8, window: 8 },
    );
    let mut arriving = filtered(SamplerConfig::PerAck, FilterConfig::Stability { beta: 0.8, window: 8 });
    for i in 0..200_u64 {
        // One packet every 2 ms at the receiver; acknowledgments arrive in groups of ten, 64 us apart.
        let mut event =
            plain_ack(Timestamp::from_nanos(20_000_000 * (i / 10) + 64_000 * (i % 10)), Bytes::new(MSS), MSS);
        event.receiver_time = Some(Timestamp::from_nanos(2_000_000 * i));
        stamped.on_ack(&event, &mut NullProbe);
        arriving.on_ack(&event, &mut NullProbe);
    }
    assert_eq!(stamped.bandwidth(), Some(5e5));
    assert!(arriving.bandwidth().unwrap() > 2.0 * 5e5, "{:?}", arriving.bandwidth());
}

/// The textbook slope of three points: times 0, 1, 3 ms; data 0, 1000, 2000: 2000/3.111.. ms.
#[test]
fn three_acknowledgments_yield_the_least_squares_slope() {
    let sampler = SamplerConfig::BackToBack { acks: 3, spacing: Duration::from_nanos(1) };
    let mut estimator = filtered(sampler, FilterConfig::First);
    for at in [0, 1_000_000, 3_000_000] {
        estimator.on_ack(&plain_ack(Timestamp::from_nanos(at), Bytes::new(MSS), MSS), &mut NullProbe);
    }
    // Deviations from the means: t −4/3, −1/3, 5/3 ms; x −1000, 0, 1000.
    let slope = (4.0 / 3.0 + 5.0 / 3.0) * 1e3 / ((16.0 + 1.0 + 25.0) / 9.0) * 1e3;
    let answer = estimator.bandwidth().unwrap();
    assert!((answer - slope).abs() < 1e-9 * slope, "{answer} {slope}");
}

#[test]
fn packets_not_sent_together_are_no_pair() {
    let sampler = SamplerConfig::BackToBack { acks: 2, spacing: Duration::from_micros(10) };
    let mut estimator = filtered(sampler, FilterConfig::None);
    for (sent, arrived) in [(0, 100), (5, 101), (50, 150), (55, 152)] {
        let mut event = plain_ack(Timestamp::from_nanos(arrived * 1_000_000), Bytes::new(MSS), MSS);
        event.latest_sent_at = Some(Timestamp::from_nanos(sent * 1_000_000));
        estimator.on_ack(&event, &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), None);
    for (sent, arrived) in [(200, 300), (200, 304)] {
        let mut event = plain_ack(Timestamp::from_nanos(arrived * 1_000_000), Bytes::new(MSS), MSS);
        event.latest_sent_at = Some(Timestamp::from_nanos(sent * 1_000_000));
        estimator.on_ack(&event, &mut NullProbe);
    }
    assert_eq!(estimator.bandwidth(), Some(250_000.0));
}

#[test]
fn impossible_parameters_are_rejected() {
    let none = FilterConfig::None;
    let per_ack = SamplerConfig::PerAck;
    let tau = Duration::ZERO;
    let start = Start::First;
    let refused = [
        (SamplerConfig::Interval { interval: Duration::ZERO }, none),
        (SamplerConfig::ReceiverClock { resolution: Duration::ZERO }, none),
        (SamplerConfig::BackToBack { acks: 1, spacing: Duration::from_nanos(1) }, none),
        (SamplerConfig::BackToBack { acks: 17, spacing: Duration::from_nanos(1) }, none),
        (per_ack, FilterConfig::ZeroOrderHold { tau, start }),
        (per_ack, FilterConfig::Bilinear { tau, virtual_samples: VirtualSamples::Zero, start }),
        (per_ack, FilterConfig::TimeInvariant { alpha: 1.0, start }),
        (per_ack, FilterConfig::TimeInvariant { alpha: f64::NAN, start }),
        (per_ack, FilterConfig::Stability { beta: -0.1, window: 8 }),
        (per_ack, FilterConfig::Stability { beta: 0.8, window: 0 }),
        (per_ack, FilterConfig::Stability { beta: 0.8, window: 17 }),
        (per_ack, FilterConfig::TwoState { good: 1.0, bad: 0.6, timed: false }),
        (per_ack, FilterConfig::TwoState { good: 0.9, bad: -1.0, timed: false }),
        (per_ack, FilterConfig::Median { window: 0 }),
        (per_ack, FilterConfig::Median { window: 16 }),
    ];
    for (sampler, filter) in refused {
        assert!(AckRate::new(AckRateConfig::Filtered { sampler, filter }).is_err(), "{sampler:?} {filter:?}");
    }
    for ticks_per_second in [0, 19, 1_000_001] {
        assert!(AckRate::new(AckRateConfig::WestwoodPlus { ticks_per_second }).is_err());
    }
}
