//! Merging of acknowledgments that arrive at the same instant.

use airpath_model::{Bytes, Duration, Timestamp};

/// All data acknowledged at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) at: Timestamp,
    pub(crate) amount: Bytes,
    /// The smoothed RTT at that instant.
    pub(crate) rtt: Duration,
}

/// Merges acknowledgments with equal arrival times: d/Δ is undefined if Δ is zero. Only the next instant
/// shows that an instant is complete, so each instant is returned after time has advanced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instants {
    open: Option<Instant>,
}

impl Instants {
    /// Returns the instant that `next` completes, if any.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simultaneous_acknowledgments_are_summed_with_the_last_rtt() {
        let ack = |ms, bytes, rtt| Instant {
            at: Timestamp::ZERO + Duration::from_millis(ms),
            amount: Bytes::new(bytes),
            rtt: Duration::from_millis(rtt),
        };
        let mut instants = Instants::default();
        assert_eq!(instants.on_ack(ack(1, 1000, 50)), None);
        assert_eq!(instants.on_ack(ack(1, 500, 60)), None);
        assert_eq!(instants.on_ack(ack(2, 700, 70)), Some(ack(1, 1500, 60)));
        assert_eq!(instants.on_ack(ack(3, 1, 80)), Some(ack(2, 700, 70)));
    }
}
