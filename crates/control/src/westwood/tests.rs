use airpath_model::{Controller, Measurement, NullProbe, Timestamp};

use super::*;
use crate::{StandardSlowStart, Windowed};

const MSS: Bytes = Bytes::new(1000);

/// An estimator with fixed results that counts its calls.
#[derive(Clone, Debug, Default)]
struct StubEstimator {
    bandwidth: Option<f64>,
    minimum_rtt: Option<Duration>,
    signals: usize,
}

impl AckRateEstimator for StubEstimator {
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe) {
        if let Some(bandwidth) = self.bandwidth {
            probe.record(event.now, Measurement::Bandwidth(bandwidth));
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.signals += 1;
    }

    fn bandwidth(&self) -> Option<f64> {
        self.bandwidth
    }

    fn minimum_rtt(&self) -> Option<Duration> {
        self.minimum_rtt
    }
}

/// Returns an estimator with 500 kB/s, which is 20 segments at the 40 ms of these tests.
fn stub_estimator() -> StubEstimator {
    StubEstimator { bandwidth: Some(500_900.0), ..StubEstimator::default() }
}

fn westwood(estimator: StubEstimator, config: WestwoodConfig, window: u64) -> impl Controller {
    let rule = Westwood::new(estimator, config);
    let mut controller = Windowed::new(rule, StandardSlowStart::default(), MSS * window, MSS).unwrap();
    controller.on_ack(&rtt_of(40), &mut NullProbe);
    controller
}

/// Returns an acknowledgment of no data, so that the window does not change.
fn rtt_of(ms: u64) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.mss = MSS;
    event.rtt_sample = Some(Duration::from_millis(ms));
    event
}

fn signal(controller: &mut impl Controller, which: CongestionSignal, flight: u64) {
    let mut event = CongestionEvent::at(Timestamp::ZERO, which);
    event.mss = MSS;
    event.flight_size = MSS * flight;
    event.consecutive = u32::from(which == CongestionSignal::Timeout);
    controller.on_congestion(&event, &mut NullProbe);
}

fn segments(controller: &impl Controller) -> (u64, u64) {
    let whole = |bytes: Bytes| bytes.get() / MSS.get();
    (whole(controller.control().window), whole(controller.ssthresh().unwrap()))
}

#[test]
fn a_loss_sets_window_and_threshold_to_bandwidth_times_rtt_in_whole_segments() {
    for which in [CongestionSignal::Loss, CongestionSignal::EcnCe] {
        let mut controller = westwood(stub_estimator(), WestwoodConfig::default(), 50);
        signal(&mut controller, which, 50);
        assert_eq!(controller.control().window, MSS * 20);
        assert_eq!(controller.ssthresh(), Some(MSS * 20));
    }
}

#[test]
fn a_threshold_in_bytes_is_not_rounded() {
    let config = WestwoodConfig { threshold_unit: ThresholdUnit::Bytes, ..WestwoodConfig::default() };
    let mut controller = westwood(stub_estimator(), config, 50);
    signal(&mut controller, CongestionSignal::Loss, 50);
    assert_eq!(controller.control().window, Bytes::new(20_036));
    assert_eq!(controller.ssthresh(), Some(Bytes::new(20_036)));
}

#[test]
fn a_timeout_sets_the_threshold_to_the_bdp_and_the_window_to_one_segment() {
    let mut controller = westwood(stub_estimator(), WestwoodConfig::default(), 50);
    signal(&mut controller, CongestionSignal::Timeout, 50);
    assert_eq!(segments(&controller), (1, 20));
}

#[test]
fn the_window_is_raised_only_if_permitted() {
    for (guard, window) in [(true, 10), (false, 20)] {
        let config = WestwoodConfig { guard, ..WestwoodConfig::default() };
        let mut controller = westwood(stub_estimator(), config, 10);
        signal(&mut controller, CongestionSignal::Loss, 10);
        assert_eq!(segments(&controller), (window, 20));
    }
}

#[test]
fn without_an_estimate_a_loss_halves_the_flight() {
    let mut controller = westwood(StubEstimator::default(), WestwoodConfig::default(), 50);
    signal(&mut controller, CongestionSignal::Loss, 30);
    assert_eq!(segments(&controller), (15, 15));
}

#[test]
fn a_tiny_bandwidth_leaves_two_segments() {
    let mut controller = westwood(
        StubEstimator { bandwidth: Some(1.0), ..StubEstimator::default() },
        WestwoodConfig::default(),
        50,
    );
    signal(&mut controller, CongestionSignal::Loss, 50);
    assert_eq!(segments(&controller), (2, 2));
}

/// Linux: half during the recovery, then the estimate at its end, which may exceed every earlier window.
#[test]
fn with_the_after_recovery_option_the_window_is_set_at_the_end() {
    for (guard, window) in [(true, 18), (false, 20)] {
        let config = WestwoodConfig {
            reduction: WestwoodReduction::AfterRecovery,
            guard,
            ..WestwoodConfig::default()
        };
        let mut controller = westwood(stub_estimator(), config, 18);
        signal(&mut controller, CongestionSignal::Loss, 18);
        assert_eq!(segments(&controller), (9, 9));
        let mut event = rtt_of(40);
        event.in_recovery = true;
        controller.on_ack(&event, &mut NullProbe);
        assert_eq!(segments(&controller), (9, 9));
        event.in_recovery = false;
        controller.on_ack(&event, &mut NullProbe);
        assert_eq!(segments(&controller), (window, window));
        controller.on_ack(&event, &mut NullProbe);
        assert_eq!(segments(&controller), (window, window), "only once");
    }
}

#[test]
fn a_timeout_in_recovery_cancels_the_setting_at_its_end() {
    let config = WestwoodConfig { reduction: WestwoodReduction::AfterRecovery, ..WestwoodConfig::default() };
    let mut controller = westwood(stub_estimator(), config, 50);
    signal(&mut controller, CongestionSignal::Loss, 50);
    signal(&mut controller, CongestionSignal::Timeout, 50);
    controller.on_ack(&rtt_of(40), &mut NullProbe);
    assert_eq!(segments(&controller), (1, 20));
}

#[test]
fn the_smallest_rtt_is_that_of_the_flow_or_since_the_last_timeout() {
    for (minimum_rtt, threshold) in [(MinimumRtt::OfFlow, 20), (MinimumRtt::SinceTimeout, 40)] {
        let config = WestwoodConfig { minimum_rtt, ..WestwoodConfig::default() };
        let mut controller = westwood(stub_estimator(), config, 50);
        signal(&mut controller, CongestionSignal::Timeout, 50);
        controller.on_ack(&rtt_of(90), &mut NullProbe);
        controller.on_ack(&rtt_of(80), &mut NullProbe);
        signal(&mut controller, CongestionSignal::Timeout, 50);
        assert_eq!(segments(&controller), (1, threshold));
    }
}

#[test]
fn the_smallest_rtt_of_the_estimator_has_precedence() {
    let estimator = StubEstimator { minimum_rtt: Some(Duration::from_millis(60)), ..stub_estimator() };
    let mut controller = westwood(estimator, WestwoodConfig::default(), 50);
    signal(&mut controller, CongestionSignal::Loss, 50);
    assert_eq!(segments(&controller), (30, 30));
}

#[test]
fn the_estimator_receives_every_signal_after_it_was_read() {
    let mut rule = Westwood::new(stub_estimator(), WestwoodConfig::default());
    for which in [CongestionSignal::Loss, CongestionSignal::EcnCe, CongestionSignal::Timeout] {
        rule.reduce(MSS, &CongestionEvent::at(Timestamp::ZERO, which), &mut NullProbe);
    }
    assert_eq!(rule.estimator.signals, 3);
}

/// Linux resets the smallest RTT after a timeout, when the path may be different, but not after other losses.
#[test]
fn only_a_timeout_resets_the_smallest_rtt() {
    let config = WestwoodConfig { minimum_rtt: MinimumRtt::SinceTimeout, ..WestwoodConfig::default() };
    for (which, threshold) in [(CongestionSignal::Loss, 20), (CongestionSignal::Timeout, 40)] {
        let mut controller = westwood(stub_estimator(), config, 50);
        signal(&mut controller, which, 50);
        controller.on_ack(&rtt_of(80), &mut NullProbe);
        signal(&mut controller, CongestionSignal::EcnCe, 50);
        assert_eq!(segments(&controller).1, threshold, "{which:?}");
    }
}
