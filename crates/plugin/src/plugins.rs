//! What authors implement.

use std::ffi::CStr;

use airpath_model::{AckRateEstimator, Bytes, CapacitySource, Controller, Duration, Qdisc, RandomStream};

use crate::{LinkFacts, Parameter, QueuedPacket, Values};

/// A controller that a library exports.
pub trait Plugin: 'static {
    /// The controller of a connection.
    type Controller: Controller;
    /// The name in figures.
    const TITLE: &'static CStr;
    /// Its description, one line.
    const DESCRIPTION: &'static CStr;
    /// The parameters, in the order in which users see them.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The names of the quantities that the controller records ([`airpath_model::Measurement::Named`]), with spaces between them.
    const QUANTITIES: &'static CStr = c"";

    /// Constructs the controller of a connection.
    ///
    /// # Errors
    /// The values contradict each other; the text states how.
    fn build(facts: Facts, values: &Values<'_>) -> Result<Self::Controller, String>;
}

/// The properties of a connection that are known before its first packet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Facts {
    /// The initial window.
    pub initial_window: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// The round-trip time of the handshake; `None` if there was none.
    pub handshake_rtt: Option<Duration>,
    /// Random numbers that follow from the seed of the run.
    pub random: RandomStream,
}

/// An ACK-rate estimator that a library exports.
pub trait EstimatorPlugin: 'static {
    /// The estimator. Westwood copies it at each loss, and continues with the copy if the loss was spurious.
    type Estimator: AckRateEstimator + Clone + Sync;
    /// The name in figures.
    const TITLE: &'static CStr;
    /// Its description, one line.
    const DESCRIPTION: &'static CStr;
    /// The parameters, in the order in which users see them.
    const PARAMETERS: &'static [Parameter] = &[];

    /// Constructs an estimator without any samples.
    ///
    /// # Errors
    /// The values contradict each other; the text states how.
    fn build(values: &Values<'_>) -> Result<Self::Estimator, String>;
}

/// A capacity source that a library exports.
pub trait SourcePlugin: 'static {
    /// The source of a link.
    type Source: CapacitySource;
    /// The name in figures.
    const TITLE: &'static CStr;
    /// Its description, one line.
    const DESCRIPTION: &'static CStr;
    /// The parameters, in the order in which users see them.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The names of the quantities that the source reports ([`CapacitySource::observe`]), with spaces between them. The
    /// host reports `capacity_estimate` and `capacity_estimate_bps` itself.
    const QUANTITIES: &'static CStr = c"";

    /// Constructs the source of a link with this buffer.
    ///
    /// # Errors
    /// The values contradict each other; the text states how.
    fn build(buffer: Bytes, values: &Values<'_>) -> Result<Self::Source, String>;
}

/// A queue discipline that a library exports.
pub trait QueuePlugin: 'static {
    /// The queue of a link.
    type Queue: Qdisc<QueuedPacket>;
    /// The name in figures.
    const TITLE: &'static CStr;
    /// Its description, one line.
    const DESCRIPTION: &'static CStr;
    /// The parameters, in the order in which users see them.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The names of the quantities that the queue reports ([`Qdisc::observe`]), with spaces between them.
    const QUANTITIES: &'static CStr = c"";

    /// Constructs the queue of a link.
    ///
    /// # Errors
    /// The values contradict each other; the text states how.
    fn build(link: LinkFacts, values: &Values<'_>) -> Result<Self::Queue, String>;
}
