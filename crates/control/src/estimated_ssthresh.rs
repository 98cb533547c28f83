//! Slow start with a measured threshold.

use airpath_model::{AckEvent, AckRateEstimator, Bytes, CongestionSignal, NullProbe};

use crate::{SlowStart, StandardSlowStart};

/// Slow start whose first threshold is the estimate of an ACK-rate estimator times the current RTT (Hoe 1996,
/// section 4.1, with the least-squares slope through three acknowledgments of packets sent back to back).
///
/// Only the first estimate applies; afterwards, and after a signal, this is [`StandardSlowStart`].
#[derive(Clone, Debug)]
pub struct EstimatedSsthresh<E> {
    standard: StandardSlowStart,
    /// `None` after its first estimate or a signal.
    estimator: Option<E>,
    ssthresh: Option<Bytes>,
}

impl<E: AckRateEstimator> EstimatedSsthresh<E> {
    /// Creates a slow start with the growth of `standard`.
    pub fn new(standard: StandardSlowStart, estimator: E) -> Self {
        Self { standard, estimator: Some(estimator), ssthresh: None }
    }
}

impl<E: AckRateEstimator + Clone> SlowStart for EstimatedSsthresh<E> {
    fn growth(&self, event: &AckEvent) -> Bytes {
        self.standard.growth(event)
    }

    fn on_ack(&mut self, event: &AckEvent) -> bool {
        if let Some(estimator) = &mut self.estimator {
            estimator.on_ack(event, &mut NullProbe);
            if let Some(bandwidth) = estimator.bandwidth()
                && !event.rtt.minimum.is_zero()
            {
                self.ssthresh = Some(Bytes::from_f64(bandwidth * event.rtt.minimum.as_secs_f64()));
                self.estimator = None;
            }
        }
        self.standard.on_ack(event)
    }

    fn initial_ssthresh(&self) -> Option<Bytes> {
        self.ssthresh
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        self.estimator = None;
        self.standard.on_congestion(signal);
    }
}

#[cfg(test)]
mod tests {
    use airpath_estimate::{AckRate, AckRateConfig, FilterConfig, SamplerConfig};
    use airpath_model::{Control, Controller, Duration, Phase, Timestamp};

    use super::*;
    use crate::{NewReno, Windowed};

    const MSS: Bytes = Bytes::new(1000);

    fn hoe() -> impl Controller {
        let sampler = SamplerConfig::BackToBack { acks: 3, spacing: Duration::from_millis(1) };
        let estimator =
            AckRate::new(AckRateConfig::Filtered { sampler, filter: FilterConfig::First }).unwrap();
        let slow_start = EstimatedSsthresh::new(StandardSlowStart::default(), estimator);
        Windowed::new(NewReno::default(), slow_start, MSS * 10, MSS).unwrap()
    }

    /// Returns an acknowledgment of one of ten packets that were sent together. Acknowledgments arrive every
    /// 2 ms: 500 segments/s, 50 segments in 100 ms.
    fn ack(number: u64) -> AckEvent {
        let mut event = AckEvent::at(Timestamp::ZERO + Duration::from_millis(100 + 2 * number));
        event.mss = MSS;
        event.acked = MSS;
        event.advance = MSS;
        event.latest_sent_at = Some(Timestamp::ZERO);
        event.rtt.minimum = Duration::from_millis(100);
        event
    }

    #[test]
    fn slow_start_ends_at_the_measured_threshold() {
        let mut controller = hoe();
        for number in 0..2 {
            controller.on_ack(&ack(number), &mut NullProbe);
        }
        assert_eq!(controller.ssthresh(), None);
        for number in 2..40 {
            controller.on_ack(&ack(number), &mut NullProbe);
        }
        assert_eq!(controller.ssthresh(), Some(MSS * 50));
        assert_eq!((controller.phase(), controller.control().window), (Phase::CongestionAvoidance, MSS * 50));
    }

    #[test]
    fn a_congestion_signal_before_the_third_acknowledgment_ends_the_measurement() {
        let mut controller = hoe();
        controller.on_ack(&ack(0), &mut NullProbe);
        let mut event = airpath_model::CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
        event.mss = MSS;
        event.flight_size = MSS * 10;
        controller.on_congestion(&event, &mut NullProbe);
        for number in 1..5 {
            controller.on_ack(&ack(number), &mut NullProbe);
        }
        assert_eq!(controller.ssthresh(), Some(MSS * 5));
        let Control { window, .. } = controller.control();
        assert_eq!(window, MSS * 5);
    }
}
