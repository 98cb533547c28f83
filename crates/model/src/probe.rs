//! Typed telemetry, passed as a parameter. Algorithms do not log.

use crate::{CongestionSignal, Phase, Timestamp};

/// An observation or decision of an algorithm that a researcher may want to plot.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measurement {
    /// The controller entered a phase.
    Phase(Phase),
    /// The transport reported a congestion signal to the controller.
    Congestion(CongestionSignal),
    /// The transport repaired every loss of the last loss event.
    RecoveryLeft,
    /// The last timeout was spurious and was undone.
    SpuriousTimeout,
    /// One sample of bandwidth, before any filter, byte/s.
    BandwidthSample(f64),
    /// A bandwidth estimate, byte/s.
    Bandwidth(f64),
    /// A sample and the resulting estimate, byte/s, of an estimator that runs alongside the controller and
    /// controls nothing.
    Observer {
        /// The index in the driver's list of observers.
        observer: u16,
        /// The sample.
        sample: f64,
        /// The estimate.
        estimate: f64,
    },
    /// A named quantity (`w_max`, `load_factor`), in the unit stated on the page of the algorithm.
    Named(&'static str, f64),
}

/// Receives telemetry. Called at most a few times for each event; must not feed back into the algorithm.
pub trait Probe {
    /// Records a measurement taken at `now`.
    fn record(&mut self, now: Timestamp, measurement: Measurement);
}

/// A probe that discards all telemetry.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullProbe;

impl Probe for NullProbe {
    fn record(&mut self, _now: Timestamp, _measurement: Measurement) {}
}
