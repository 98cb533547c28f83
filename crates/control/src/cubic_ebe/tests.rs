//! The use of an estimate by the rule, with an estimator whose results are set by the test.

use airpath_model::{NullProbe, RttEstimate, Timestamp};

use super::*;
use crate::CubicConfig;

const MSS: u64 = 1000;

/// An estimator whose results are set by the test.
#[derive(Clone, Debug, Default)]
struct StubEstimator {
    ceiling: Option<f64>,
    probing: f64,
    interval_ends: bool,
    losses: u32,
    /// The last reported window.
    window: f64,
}

impl WindowCeilingEstimator for StubEstimator {
    fn on_ack(&mut self, _now: Timestamp, window: f64, _rtt: &RttEstimate) -> bool {
        self.window = window;
        self.interval_ends
    }
    fn on_loss(&mut self, _now: Timestamp, w_max: f64, _rtt: &RttEstimate) {
        self.ceiling = Some(w_max);
        self.losses += 1;
    }
    fn ceiling(&self) -> Option<f64> {
        self.ceiling
    }
    fn probing(&self) -> f64 {
        self.probing
    }
    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("told", 1.0);
    }
}

fn segments(count: u64) -> Bytes {
    Bytes::new(count * MSS)
}

fn rule(growth: ProbingGrowth, probing: f64) -> CubicEbe<StubEstimator> {
    let cubic = Cubic::new(CubicConfig::LINUX2008).unwrap();
    let mut rule = CubicEbe::new(cubic, StubEstimator { probing, ..StubEstimator::default() }, growth);
    rule.reduce(segments(100), &signal(CongestionSignal::Loss), &mut NullProbe);
    rule
}

fn signal(signal: CongestionSignal) -> CongestionEvent {
    let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
    event.mss = segments(1);
    event
}

fn acked(seconds: f64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::from_secs_f64(seconds));
    event.mss = segments(1);
    event.acked = segments(1);
    event.rtt.minimum = airpath_model::Duration::from_millis(500);
    event
}

/// Returns the window after one acknowledgment, from 80 segments, at the start of an epoch.
fn grown(rule: &mut CubicEbe<StubEstimator>) -> Bytes {
    rule.on_ack(segments(80), &acked(1.0), &mut NullProbe);
    rule.congestion_avoidance(segments(80), &acked(1.0))
}

#[test]
fn without_probing_the_window_follows_cubic_towards_the_registered_ceiling() {
    let mut cubic = Cubic::new(CubicConfig::LINUX2008).unwrap();
    cubic.reduce(segments(100), &signal(CongestionSignal::Loss), &mut NullProbe);
    let mut rule = rule(ProbingGrowth::Acknowledged, 1.0);
    assert_eq!(rule.estimator.ceiling, Some(100.0));
    assert_eq!(grown(&mut rule), cubic.congestion_avoidance(segments(80), &acked(1.0)));
}

#[test]
fn the_curve_follows_the_estimate_at_the_end_of_an_interval() {
    let mut rule = rule(ProbingGrowth::Acknowledged, 1.0);
    rule.estimator.ceiling = Some(150.0);
    grown(&mut rule);
    assert_eq!(rule.cubic.w_max(), Some(100.0));
    rule.estimator.interval_ends = true;
    grown(&mut rule);
    assert_eq!(rule.cubic.w_max(), Some(150.0));
}

#[test]
fn probing_growth_depends_on_its_kind() {
    let plain = grown(&mut rule(ProbingGrowth::Acknowledged, 1.0)) - segments(80);
    assert!(plain > Bytes::ZERO);
    for (growth, interval_ends, expected) in [
        // 0.5 segments for one acknowledged; twice 80; CUBIC's times 1.5; CUBIC's alone if no interval ended.
        (ProbingGrowth::Acknowledged, false, Bytes::new(500)),
        (ProbingGrowth::Interval, true, segments(40)),
        (ProbingGrowth::Interval, false, plain),
        (ProbingGrowth::Increment, false, plain.mul_f64(1.5)),
    ] {
        let mut rule = rule(growth, 1.5);
        rule.estimator.interval_ends = interval_ends;
        assert_eq!(grown(&mut rule) - segments(80), expected, "{growth:?}");
    }
    let mut rule = rule(ProbingGrowth::Ceiling, 1.5);
    rule.estimator.interval_ends = true;
    grown(&mut rule);
    assert_eq!(rule.cubic.w_max(), Some(150.0));
}

#[test]
fn interval_growth_occurs_once_per_interval() {
    let mut rule = rule(ProbingGrowth::Interval, 2.0);
    rule.estimator.interval_ends = true;
    assert_eq!(grown(&mut rule), segments(160));
    rule.estimator.interval_ends = false;
    assert!(grown(&mut rule) < segments(82));
}

#[test]
fn a_timeout_keeps_the_estimate_and_a_loss_registers_a_new_one() {
    let mut rule = rule(ProbingGrowth::Acknowledged, 1.0);
    rule.reduce(segments(90), &signal(CongestionSignal::Timeout), &mut NullProbe);
    assert_eq!((rule.cubic.w_max(), rule.estimator.losses), (Some(100.0), 1));
    // Below the last W_max: fast convergence, 90 * 1.8 / 2.
    rule.reduce(segments(90), &signal(CongestionSignal::Loss), &mut NullProbe);
    assert_eq!((rule.estimator.ceiling, rule.estimator.losses), (Some(81.0), 2));
}

#[test]
fn quantities_of_the_estimator_are_recorded_at_the_end_of_an_interval() {
    #[derive(Default)]
    struct Named(u32, u32);
    impl Probe for Named {
        fn record(&mut self, _now: Timestamp, measurement: Measurement) {
            match measurement {
                Measurement::Named("w_max", _) => self.0 += 1,
                Measurement::Named("told", _) => self.1 += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    let mut rule = rule(ProbingGrowth::Acknowledged, 1.0);
    let mut named = Named::default();
    rule.on_ack(segments(80), &acked(1.0), &mut named);
    assert_eq!((named.0, named.1), (0, 0));
    rule.estimator.interval_ends = true;
    rule.on_ack(segments(80), &acked(1.2), &mut named);
    assert_eq!((named.0, named.1), (1, 1));
}

#[test]
fn the_estimator_receives_windows_in_segments() {
    let mut rule = rule(ProbingGrowth::Interval, 1.0);
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.mss = Bytes::new(MSS);
    rule.on_ack(segments(50), &event, &mut NullProbe);
    assert!((rule.estimator.window - 50.0).abs() < 1e-12, "{}", rule.estimator.window);
}

#[test]
fn any_factor_above_one_is_probing() {
    let acknowledged = |probing| {
        let mut event = AckEvent::at(Timestamp::ZERO);
        (event.mss, event.acked) = (Bytes::new(MSS), segments(50));
        rule(ProbingGrowth::Acknowledged, probing).congestion_avoidance(segments(50), &event)
    };
    assert_eq!(acknowledged(1.1), segments(55));
    assert!(acknowledged(1.0) < segments(55));
}
