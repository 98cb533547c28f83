//! The door to controllers that are told from outside what they may allow.

use crate::{Bytes, Duration, Rate};

/// A controller that decides nothing: whoever drives the run asks it now and then what it saw, and sets what it allows.
pub trait Steered {
    /// What may be sent from now on.
    fn steer(&mut self, steering: Steering);

    /// What the sender saw since it was asked last.
    fn take_report(&mut self) -> SenderReport;
}

/// What a steered controller is told to allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steering {
    /// The most payload in flight; less than a segment counts as one.
    pub window: Bytes,
    /// The rate of payload at which packets leave; `None`: as soon as the window allows, or as the transport paces windows.
    pub pacing: Option<Rate>,
}

/// What a sender saw over a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderReport {
    /// Payload sent, retransmissions included.
    pub sent: Bytes,
    /// Payload newly acknowledged, cumulatively or selectively.
    pub acked: Bytes,
    /// Payload found lost, by acknowledgments or by the retransmission timer.
    pub lost: Bytes,
    /// RTT samples together.
    pub rtt_sum: Duration,
    /// How many RTT samples there were.
    pub rtt_samples: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
}
