//! The interface of controllers whose decisions come from outside.

use crate::{Bytes, Duration, Rate};

/// A controller without decisions of its own: the driver of the run reads its reports and sets its limits
/// from time to time.
pub trait Steered {
    /// Sets the limits from now on.
    fn steer(&mut self, steering: Steering);

    /// Returns what the sender observed since the last call.
    fn take_report(&mut self) -> SenderReport;
}

/// The limits set for a steered controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steering {
    /// The most payload in flight; values below one segment count as one segment.
    pub window: Bytes,
    /// The pacing rate of payload; `None`: packets leave as soon as the window allows, or as the transport
    /// paces windows.
    pub pacing: Option<Rate>,
}

/// Observations of a sender over a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderReport {
    /// Payload sent, retransmissions included.
    pub sent: Bytes,
    /// Payload newly acknowledged, cumulatively or selectively.
    pub acked: Bytes,
    /// Payload found lost, by acknowledgments or by the retransmission timer.
    pub lost: Bytes,
    /// The sum of the RTT samples.
    pub rtt_sum: Duration,
    /// The number of RTT samples.
    pub rtt_samples: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
}
