//! The door to estimators of bandwidth from acknowledgments.

use core::fmt::Debug;

use crate::{AckEvent, CongestionEvent, Duration, Probe};

/// What a sender, or a reader of a recorded conversation, believes that its path delivers, judged by the
/// acknowledgments that come back.
///
/// It owns no clock: a congestion controller feeds it inside a run, a capture reader feeds it alone. Driver's
/// contract: `now` never decreases; every acknowledgment is told, duplicates included; a congestion signal that an
/// acknowledgment brings comes before it, as for a [`crate::Controller`].
///
/// Telemetry: [`crate::Measurement::BandwidthSample`] for each raw sample, then [`crate::Measurement::Bandwidth`] with
/// the estimate that it leads to, at the time of the call that completed the sample.
pub trait AckRateEstimator: Debug + Send {
    /// What the driver must deliver. Without it the estimator stays without an answer.
    fn requirements(&self) -> AckRateRequirements {
        AckRateRequirements::default()
    }

    /// An acknowledgment arrived, new data or duplicate.
    fn on_ack(&mut self, event: &AckEvent, probe: &mut dyn Probe);

    /// A congestion signal.
    fn on_congestion(&mut self, _event: &CongestionEvent) {}

    /// The estimate in byte/s, finite and not negative; `None` before the first sample.
    fn bandwidth(&self) -> Option<f64>;

    /// The smallest RTT by which a window follows from the bandwidth, for estimators whose text says how it is kept
    /// (Westwood+ in Linux); `None` leaves it to the controller.
    fn minimum_rtt(&self) -> Option<Duration> {
        None
    }
}

/// What an [`AckRateEstimator`] needs beyond the arrival times and amounts of acknowledgments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckRateRequirements {
    /// [`AckEvent::receiver_time`]: the timestamp option of TCP.
    pub receiver_time: bool,
    /// [`AckEvent::rate`]: delivery-rate samples.
    pub rate_samples: bool,
    /// [`AckEvent::latest_sent_at`].
    pub sending_times: bool,
    /// [`AckEvent::rtt_sample`] and [`AckEvent::rtt`].
    pub rtt: bool,
}
