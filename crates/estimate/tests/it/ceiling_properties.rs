//! Properties of EBE's window ceiling for every order of acknowledgments and losses.

use airpath_estimate::{
    CeilingProfile, EbeCeiling, EbeCeilingConfig, RttMaintainer, RttMaintenance, RttThreshold,
};
use airpath_model::{Duration, RttEstimate, Timestamp, WindowCeilingEstimator};
use proptest::prelude::*;

/// One call of a driver, after a wait.
#[derive(Clone, Copy, Debug)]
enum Call {
    Acknowledgment { window: f64, rtt: Option<u64> },
    Loss { w_max: f64, rtt: Option<u64> },
}

/// Generates round-trip times from 1 µs to 100 s, in nanoseconds; `None` before the first sample.
fn rtt() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![1 => Just(None), 20 => (3.0..11.0f64).prop_map(|exponent| Some(libm::pow(10.0, exponent) as u64))]
}

fn window() -> impl Strategy<Value = f64> {
    (0.0..7.0f64).prop_map(|exponent| libm::pow(10.0, exponent))
}

fn call() -> impl Strategy<Value = (u64, Call)> {
    let wait = prop_oneof![10 => 0u64..50_000_000, 1 => 0u64..20_000_000_000];
    let call = prop_oneof![
        20 => (window(), rtt()).prop_map(|(window, rtt)| Call::Acknowledgment { window, rtt }),
        1 => (window(), rtt()).prop_map(|(w_max, rtt)| Call::Loss { w_max, rtt }),
    ];
    (wait, call)
}

fn config() -> impl Strategy<Value = EbeCeilingConfig> {
    let profile = prop::sample::select(vec![
        CeilingProfile::Recommended,
        CeilingProfile::Journal,
        CeilingProfile::None,
    ]);
    let maintainer = prop::sample::select(vec![RttMaintenance::On, RttMaintenance::Off]);
    let rtt_threshold = prop::sample::select(vec![RttThreshold::QueueingDelay, RttThreshold::Literal]);
    (profile, maintainer, rtt_threshold, 0.01..=1.0f64, 1.0..3.0f64, 0.0..4.0f64).prop_map(
        |(profile, maintainer, rtt_threshold, threshold, upsilon, hold_off)| EbeCeilingConfig {
            profile,
            maintainer,
            rtt_threshold,
            threshold,
            upsilon,
            hold_off,
            ..EbeCeilingConfig::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn ceiling_and_probing_stay_within_their_ranges(
        config in config(),
        calls in prop::collection::vec(call(), 1..400),
    ) {
        let mut ebe = EbeCeiling::new(config).expect("parameters in range");
        let (mut now, mut minimum, mut armed) = (Timestamp::ZERO, None::<u64>, false);
        for (wait, call) in calls {
            now += Duration::from_nanos(wait);
            let (Call::Acknowledgment { rtt, .. } | Call::Loss { rtt, .. }) = call;
            if let Some(rtt) = rtt {
                minimum = Some(minimum.map_or(rtt, |minimum| minimum.min(rtt)));
            }
            let latest = Duration::from_nanos(rtt.unwrap_or(0));
            let minimum = Duration::from_nanos(minimum.unwrap_or(0));
            let times = RttEstimate { latest, smoothed: latest, variation: Duration::ZERO, minimum };
            match call {
                Call::Acknowledgment { window, .. } => {
                    ebe.on_ack(now, window, &times);
                }
                Call::Loss { w_max, .. } => {
                    ebe.on_loss(now, w_max, &times);
                    armed |= rtt.is_some();
                    prop_assert_eq!(ebe.probing().to_bits(), 1.0f64.to_bits(), "a loss ends probing");
                }
            }
            let probing = ebe.probing();
            prop_assert!(probing >= 1.0 && probing <= config.upsilon, "probing {probing}");
            match ebe.ceiling() {
                None => prop_assert!(!armed, "a loss with a round-trip time leaves a ceiling"),
                Some(ceiling) => {
                    prop_assert!(armed && ceiling.is_finite() && ceiling > 0.0, "ceiling {ceiling}");
                }
            }
            let mut finite = true;
            ebe.observe(&mut |_, value| finite &= value.is_finite());
            prop_assert!(finite);
        }
    }
}

#[test]
fn a_loss_resets_the_rtt_maintainer() {
    let mut maintainer = RttMaintainer::new(RttThreshold::QueueingDelay, 0.15, 2.0);
    maintainer.update(0.5, 0.5, 0.6);
    maintainer.reset();
    assert!((maintainer.update(0.5, 0.5, 0.6) - 1.0).abs() < 1e-12, "the first value only fills the memory");
    assert!((maintainer.update(0.5, 0.5, 0.6) - 2.0).abs() < 1e-12);
}
