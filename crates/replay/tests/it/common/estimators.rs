//! Estimators of every kind: each sampler and each filter, with the parameters of their papers.

use airpath_estimate::{AckRateConfig, FilterConfig, SamplerConfig, Start, VirtualSamples};
use airpath_model::Duration;
use airpath_replay::{NamedEstimator, Options};

/// Returns one estimator of each kind.
pub(crate) fn every_estimator() -> Vec<NamedEstimator> {
    let (tau, start) = (Duration::from_secs(1), Start::First);
    let bilinear = |virtual_samples| FilterConfig::Bilinear { tau, virtual_samples, start };
    let hold = FilterConfig::ZeroOrderHold { tau, start };
    let low_pass = FilterConfig::TimeInvariant { alpha: 0.9, start };
    let two_state = |good, bad, timed| FilterConfig::TwoState { good, bad, timed };
    let round_trip = SamplerConfig::RoundTrip;
    let ten = SamplerConfig::Interval { interval: Duration::from_millis(10) };
    let clock = SamplerConfig::ReceiverClock { resolution: Duration::from_nanos(1_000) };
    let close = |acks| SamplerConfig::BackToBack { acks, spacing: Duration::from_millis(1) };
    let mut all = vec![
        ("westwood", SamplerConfig::PerAck, bilinear(VirtualSamples::Zero)),
        ("westwood-aa", round_trip, bilinear(VirtualSamples::Held)),
        ("westwood-10ms", ten, bilinear(VirtualSamples::Zero)),
        ("westwood-zoh", SamplerConfig::PerAck, hold),
        ("westwood-zoh-aa", round_trip, hold),
        ("westwood-ti", SamplerConfig::PerAck, low_pass),
        ("westwood-ti-aa", round_trip, low_pass),
        ("dynapara", SamplerConfig::PerAck, two_state(0.9, 0.6, false)),
        ("dynapara-timed", SamplerConfig::PerAck, two_state(0.5, 0.2, true)),
        ("sarbe", clock, FilterConfig::Stability { beta: 0.8, window: 8 }),
        ("samples", SamplerConfig::PerAck, FilterConfig::None),
        ("packet-pair", close(2), FilterConfig::Median { window: 9 }),
        ("hoe", close(3), FilterConfig::First),
        ("delivery-rate", SamplerConfig::DeliveryRate, FilterConfig::None),
    ]
    .into_iter()
    .map(|(name, sampler, filter)| (name, AckRateConfig::Filtered { sampler, filter }))
    .collect::<Vec<_>>();
    all.push(("westwood+", AckRateConfig::WestwoodPlus { ticks_per_second: 1_000 }));
    all.into_iter()
        .map(|(name, config)| NamedEstimator::new(name, config).expect("a paper's values"))
        .collect()
}

/// Returns options that replay into all of them.
pub(crate) fn options() -> Options {
    Options { estimators: every_estimator(), ..Options::default() }
}
