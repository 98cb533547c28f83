use airpath_model::{Duration, LoadCode, NullProbe, Rate, RttEstimate};

use super::*;
use crate::{NewReno, StandardSlowStart, Vcp, VcpConfig, Windowed, Xcp, XcpConfig};

const MSS: Bytes = Bytes::new(1000);
const RTT: Duration = Duration::from_millis(100);

fn around(controller: impl Controller + 'static) -> LossDifferentiation {
    LossDifferentiation::new(LossDifferentiationConfig::default(), Box::new(controller)).unwrap()
}

fn vcp() -> LossDifferentiation {
    around(Vcp::new(VcpConfig::default(), MSS * 20, MSS).unwrap())
}

fn newreno() -> LossDifferentiation {
    around(Windowed::new(NewReno::default(), StandardSlowStart::default(), MSS * 20, MSS).unwrap())
}

fn ack(path: PathHeader) -> AckEvent {
    let mut event = AckEvent::at(Timestamp::ZERO);
    event.acked = MSS;
    event.mss = MSS;
    event.rtt = RttEstimate { latest: RTT, smoothed: RTT, variation: Duration::ZERO, minimum: RTT };
    event.path = path;
    event
}

/// Reports `count` acknowledgments, each with a mark or without a sign of congestion.
fn report_acks(controller: &mut LossDifferentiation, count: usize, congestion: bool) {
    let mut event = ack(PathHeader::None);
    event.acked = Bytes::ZERO;
    event.congestion_experienced = congestion;
    for _ in 0..count {
        controller.on_ack(&event, &mut NullProbe);
    }
}

fn signal(controller: &mut LossDifferentiation, signal: CongestionSignal, consecutive: u32) -> u64 {
    let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
    event.mss = MSS;
    event.flight_size = MSS * 20;
    event.consecutive = consecutive;
    controller.on_congestion(&event, &mut NullProbe);
    controller.control().window.get() / MSS.get()
}

const LOSS: CongestionSignal = CongestionSignal::Loss;
const TIMEOUT: CongestionSignal = CongestionSignal::Timeout;

#[test]
fn without_signs_of_congestion_losses_and_timeouts_keep_the_window() {
    for told in [0, 15] {
        let mut controller = vcp();
        report_acks(&mut controller, told, true);
        assert_eq!(signal(&mut controller, LOSS, 0), 20);
        assert!(controller.dismissed_signal());
        assert_eq!(signal(&mut controller, TIMEOUT, 1), 20);
        assert_eq!(signal(&mut controller, TIMEOUT, 2), 20);
        assert!(controller.dismissed_signal());
    }
}

#[test]
fn after_sixteen_signs_the_controller_reacts_to_losses() {
    let mut controller = vcp();
    report_acks(&mut controller, 16, true);
    assert_eq!(signal(&mut controller, LOSS, 0), 10);
    assert!(!controller.dismissed_signal());
    assert_eq!(signal(&mut controller, TIMEOUT, 1), 1);
    // After one acknowledgment without a sign, the next loss is an error again.
    let mut controller = vcp();
    report_acks(&mut controller, 16, true);
    report_acks(&mut controller, 1, false);
    assert_eq!(signal(&mut controller, LOSS, 0), 20);
}

#[test]
fn a_repeated_timeout_is_treated_as_the_first() {
    // Only duplicates arrive between the two timeouts, and they do not change the decision.
    let mut controller = vcp();
    assert_eq!(signal(&mut controller, TIMEOUT, 1), 20);
    report_acks(&mut controller, 16, true);
    assert_eq!(signal(&mut controller, TIMEOUT, 2), 20);
    assert_eq!(signal(&mut controller, TIMEOUT, 1), 1);
}

#[test]
fn router_feedback_sets_the_flag() {
    let mut controller = vcp();
    let overload = ack(PathHeader::Load(LoadCode::Overload));
    for _ in 0..16 {
        controller.on_ack(&overload, &mut NullProbe);
    }
    // 20 packets times 0.875 once, halved by the loss.
    assert_eq!(signal(&mut controller, LOSS, 0), 8);
}

#[test]
fn a_mark_always_reaches_the_controller() {
    let mut controller = newreno();
    assert_eq!(signal(&mut controller, CongestionSignal::EcnCe, 0), 10);
    assert!(!controller.dismissed_signal());
}

/// The wrapped controller continues to process acknowledgments while an error is repaired, and only then.
#[test]
fn the_repair_of_an_error_is_hidden() {
    let mut recovering = ack(PathHeader::None);
    (recovering.in_recovery, recovering.duplicate) = (true, true);
    let grown = |controller: &mut LossDifferentiation| {
        let before = controller.control().window;
        controller.on_ack(&recovering, &mut NullProbe);
        controller.control().window > before
    };
    let mut controller = newreno();
    assert!(!grown(&mut controller), "a recovery without a reported signal is ignored");
    signal(&mut controller, LOSS, 0);
    assert!(grown(&mut controller));
    controller.on_ack(&ack(PathHeader::None), &mut NullProbe);
    assert!(!grown(&mut controller), "that recovery is over");

    let mut controller = newreno();
    report_acks(&mut controller, 16, true);
    signal(&mut controller, LOSS, 0);
    assert!(!grown(&mut controller), "the repair of congestion is visible to the controller");
}

/// Stores the last acknowledgment that it received.
#[derive(Debug)]
struct Listener(std::sync::Arc<std::sync::Mutex<Option<AckEvent>>>);

impl Controller for Listener {
    fn on_ack(&mut self, event: &AckEvent, _probe: &mut dyn Probe) {
        *self.0.lock().unwrap() = Some(*event);
    }

    fn on_congestion(&mut self, _event: &CongestionEvent, _probe: &mut dyn Probe) {}

    fn control(&self) -> Control {
        Control { window: MSS, pacing: airpath_model::Pacing::Off, quantum: MSS }
    }

    fn phase(&self) -> Phase {
        Phase::Steady
    }
}

#[test]
fn lost_bytes_are_hidden_with_the_loss() {
    let heard = std::sync::Arc::default();
    let mut controller = around(Listener(std::sync::Arc::clone(&heard)));
    let mut event = ack(PathHeader::None);
    event.newly_lost = MSS;
    let rate = RateSample {
        delivered: MSS * 3,
        lost: MSS,
        interval: RTT,
        prior_delivered: Bytes::ZERO,
        app_limited: false,
    };
    event.rate = Some(rate);
    let forwarded = |controller: &mut LossDifferentiation| {
        controller.on_ack(&event, &mut NullProbe);
        heard.lock().unwrap().take().expect("the event was reported")
    };
    assert_eq!(forwarded(&mut controller), event);
    signal(&mut controller, LOSS, 0);
    let told = forwarded(&mut controller);
    assert_eq!((told.newly_lost, told.rate.unwrap().lost), (Bytes::ZERO, Bytes::ZERO));
    assert_eq!(told.rate.unwrap().rate(), Rate::over(MSS * 3, RTT));
    assert_eq!(forwarded(&mut controller), event, "that acknowledgment ended the repair");
}

#[test]
fn only_signals_seen_by_the_controller_are_undone() {
    let mut controller = around(Xcp::new(XcpConfig::default(), MSS * 20, MSS).unwrap());
    report_acks(&mut controller, 16, true);
    assert_eq!(signal(&mut controller, TIMEOUT, 1), 1);
    report_acks(&mut controller, 1, false);
    signal(&mut controller, TIMEOUT, 1);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(controller.control().window, MSS, "the false timeout was the dismissed one");

    let mut controller = around(Xcp::new(XcpConfig::default(), MSS * 20, MSS).unwrap());
    report_acks(&mut controller, 16, true);
    signal(&mut controller, TIMEOUT, 1);
    controller.on_spurious(Timestamp::ZERO, &mut NullProbe);
    assert_eq!(controller.control().window, MSS * 20);
}

#[test]
fn losses_are_counted_by_classification() {
    #[derive(Default)]
    struct Counts(f64, f64);
    impl Probe for Counts {
        fn record(&mut self, _now: Timestamp, measurement: Measurement) {
            match measurement {
                Measurement::Named("losses_dismissed", count) => self.0 = count,
                Measurement::Named("losses_answered", count) => self.1 = count,
                _ => {}
            }
        }
    }
    let (mut controller, mut counts) = (newreno(), Counts::default());
    let mut lose = |controller: &mut LossDifferentiation, signal, consecutive| {
        let mut event = CongestionEvent::at(Timestamp::ZERO, signal);
        event.consecutive = consecutive;
        controller.on_congestion(&event, &mut counts);
        (counts.0, counts.1)
    };
    assert_eq!(lose(&mut controller, LOSS, 0), (1.0, 0.0));
    assert_eq!(lose(&mut controller, TIMEOUT, 1), (2.0, 0.0));
    assert_eq!(lose(&mut controller, TIMEOUT, 2), (2.0, 0.0));
    report_acks(&mut controller, 16, true);
    assert_eq!(lose(&mut controller, LOSS, 0), (2.0, 1.0));
}

/// A segment every 5 ms. The first is lost: 16 duplicates, then one acknowledgment for all. The estimator of
/// the wrapped controller must return the same as a separate estimator: 200 kB/s throughout.
#[test]
fn the_inner_estimator_receives_the_duplicates_of_a_repair() {
    use crate::{Westwood, WestwoodConfig};
    use airpath_estimate::{AckRate, AckRateConfig, FilterConfig, SamplerConfig, Start};
    use airpath_model::{AckRateEstimator, Measurement};

    #[derive(Default)]
    struct Estimates(alloc::vec::Vec<f64>);
    impl Probe for Estimates {
        fn record(&mut self, _: Timestamp, measurement: Measurement) {
            if let Measurement::Bandwidth(estimate) = measurement {
                self.0.push(estimate);
            }
        }
    }

    let estimator = AckRate::new(AckRateConfig::Filtered {
        sampler: SamplerConfig::PerAck,
        filter: FilterConfig::TimeInvariant { alpha: 0.9, start: Start::First },
    })
    .unwrap();
    let mut beside = estimator.clone();
    let rule = Westwood::new(estimator, WestwoodConfig::default());
    let mut inside = around(Windowed::new(rule, StandardSlowStart::default(), MSS * 20, MSS).unwrap());
    let (mut said, mut expected) = (Estimates::default(), Estimates::default());
    for number in 0..40_u64 {
        let mut event = ack(PathHeader::None);
        event.now = Timestamp::ZERO + Duration::from_millis(5 * number);
        event.advance = MSS;
        if (10..26).contains(&number) {
            (event.duplicate, event.advance, event.acked) = (true, Bytes::ZERO, Bytes::ZERO);
            event.in_recovery = number >= 12;
        } else if number == 26 {
            (event.advance, event.acked) = (MSS * 17, MSS * 17);
        }
        if number == 12 {
            let mut loss = CongestionEvent::at(event.now, LOSS);
            loss.mss = MSS;
            inside.on_congestion(&loss, &mut NullProbe);
            beside.on_congestion(&loss);
        }
        inside.on_ack(&event, &mut said);
        beside.on_ack(&event, &mut expected);
    }
    let largest = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    let least = |list: &[f64]| list.iter().copied().fold(f64::MAX, f64::min);
    assert_eq!(
        (least(&said.0), largest(&said.0)),
        (least(&expected.0), largest(&expected.0)),
        "byte/s; the path carries 200 000"
    );
}
