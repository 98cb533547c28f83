//! Acknowledgments that arrive at the same instant are one.

use airpath_model::{Bytes, Duration, Timestamp};

/// Everything acknowledged at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) at: Timestamp,
    pub(crate) amount: Bytes,
    /// The smoothed RTT then.
    pub(crate) rtt: Duration,
}

/// Merges acknowledgments with equal arrival times: d/Δ has no value when Δ is zero. Nothing can tell that an instant
/// is complete but the next one, so each is given out when time has moved on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instants {
    open: Option<Instant>,
}

impl Instants {
    /// The instant that `next` completes, if any.
    pub(crate) fn on_ack(&mut self, next: Instant) -> Option<Instant> {
        match &mut self.open {
            Some(open) if open.at >= next.at => {
                open.amount += next.amount;
                open.rtt = next.rtt;
                None
            }
            open => open.replace(next),
        }
    }
}
