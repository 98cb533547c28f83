//! Typed telemetry, handed in as a parameter. Algorithms do not log.

use crate::{CongestionSignal, Phase, Timestamp};

/// Something that an algorithm saw or decided and that a researcher may want to plot.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measurement {
    /// The controller entered a phase.
    Phase(Phase),
    /// The transport told the controller of congestion.
    Congestion(CongestionSignal),
    /// The transport repaired every loss of the last loss event.
    RecoveryLeft,
    /// The last timeout was false and was undone.
    SpuriousTimeout,
    /// One sample of bandwidth, before any filter, byte/s.
    BandwidthSample(f64),
    /// A bandwidth estimate, byte/s.
    Bandwidth(f64),
    /// A sample and the estimate that it led to, byte/s, of an estimator that runs beside the controller and controls
    /// nothing.
    Observer {
        /// Its number in the driver's list.
        observer: u16,
        /// The sample.
        sample: f64,
        /// The estimate.
        estimate: f64,
    },
    /// A quantity with a name of its own (`w_max`, `load_factor`), in the unit that the algorithm's page states.
    Named(&'static str, f64),
}

/// Receives telemetry. Called at most a few times for each event; must not feed back into the algorithm.
pub trait Probe {
    /// `measurement` was taken at `now`.
    fn record(&mut self, now: Timestamp, measurement: Measurement);
}

/// Throws telemetry away.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullProbe;

impl Probe for NullProbe {
    fn record(&mut self, _now: Timestamp, _measurement: Measurement) {}
}
