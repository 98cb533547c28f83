//! The interface of bandwidth estimators that use acknowledgments.

use core::fmt::Debug;

use crate::{AckEvent, CongestionEvent, Duration, Probe};

/// A sender-side estimator of the bandwidth that a path delivers, computed from the returning
/// acknowledgments.
///
/// The estimator owns no clock. A congestion controller drives it inside a run; a capture reader drives it on
/// its own. Contract of the driver: `now` never decreases; every acknowledgment is reported, duplicates
/// included; a congestion signal caused by an acknowledgment is reported before it, as for a
/// [`crate::Controller`].
///
/// Telemetry: [`crate::Measurement::BandwidthSample`] for each raw sample, then
/// [`crate::Measurement::Bandwidth`] with the resulting estimate, at the time of the call that completed the
/// sample.
pub trait AckRateEstimator: Debug + Send {
    /// Returns what the driver must supply. Without it the estimator never returns an estimate.
    fn requirements(&self) -> AckRateRequirements {
        AckRateRequirements::default()
    }

    /// Processes an acknowledgment of new data or a duplicate.
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe);

    /// Processes a congestion signal.
    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    /// Returns the estimate in byte/s, finite and not negative, or `None` before the first sample.
    fn bandwidth(&self) -> Option<f64>;

    /// Returns the smallest RTT, from which a window follows with the bandwidth, for estimators whose
    /// specification defines how it is measured (Westwood+ in Linux). `None` leaves it to the controller.
    fn minimum_rtt(&self) -> Option<Duration> {
        None
    }
}

/// What an [`AckRateEstimator`] needs in addition to the arrival times and amounts of acknowledgments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckRateRequirements {
    /// [`AckEvent::receiver_time`], from TCP's timestamp option.
    pub receiver_time: bool,
    /// [`AckEvent::rate`]: delivery-rate samples.
    pub rate_samples: bool,
    /// [`AckEvent::latest_sent_at`].
    pub sending_times: bool,
    /// [`AckEvent::rtt_sample`] and [`AckEvent::rtt`].
    pub rtt: bool,
}
