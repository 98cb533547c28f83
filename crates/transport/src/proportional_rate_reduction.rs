//! Proportional rate reduction (RFC 6937), with the slow-start reduction bound.

use airpath_model::Bytes;

/// The bytes that may be sent during one recovery, so that the window shrinks to its new size over one round
/// trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProportionalRateReduction {
    /// `RecoverFS`: the flight size when recovery began.
    recover_flight_size: u64,
    delivered: u64,
    sent: u64,
    /// The bytes that may be sent before the next acknowledgment.
    allowance: u64,
}

impl ProportionalRateReduction {
    pub(crate) fn new(flight_size: Bytes) -> Self {
        Self { recover_flight_size: flight_size.get().max(1), delivered: 0, sent: 0, allowance: 0 }
    }

    /// Processes an acknowledgment that delivered `delivered` bytes; `in_flight` is RFC 6937's pipe after it.
    pub(crate) fn on_ack(&mut self, delivered: Bytes, in_flight: Bytes, ssthresh: Bytes, mss: Bytes) {
        self.delivered += delivered.get();
        self.allowance = if in_flight > ssthresh {
            // Proportional part.
            let target = u128::from(self.delivered) * u128::from(ssthresh.get());
            let target = target.div_ceil(u128::from(self.recover_flight_size));
            u64::try_from(target).unwrap_or(u64::MAX).saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(delivered.get()) + mss.get();
            (ssthresh - in_flight).get().min(limit)
        };
    }

    /// Returns whether `payload` may be sent now. An unused allowance remains due, because the formulas count
    /// the bytes sent.
    pub(crate) fn allows(&self, payload: Bytes) -> bool {
        self.allowance >= payload.get()
    }

    pub(crate) fn on_sent(&mut self, payload: Bytes) {
        self.sent += payload.get();
        self.allowance = self.allowance.saturating_sub(payload.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1000);

    /// Acknowledges one segment at a time with `in_flight` segments left, sends what is allowed, and counts
    /// it.
    fn sent_for(acks: u64, lost: u64, flight: u64, ssthresh: u64) -> u64 {
        let mut reduction = ProportionalRateReduction::new(MSS * flight);
        let (mut in_flight, mut sent) = (flight - lost, 0);
        for _ in 0..acks {
            in_flight -= 1;
            reduction.on_ack(MSS, MSS * in_flight, MSS * ssthresh, MSS);
            while reduction.allows(MSS) {
                reduction.on_sent(MSS);
                in_flight += 1;
                sent += 1;
            }
        }
        sent
    }

    #[test]
    fn a_single_loss_halves_the_flight_by_sending_on_every_other_ack() {
        // 20 in flight, one lost, 19 acknowledgments, new window 10: one packet for two deliveries.
        assert_eq!(sent_for(19, 1, 20, 10), 10);
    }

    #[test]
    fn after_heavy_loss_the_window_grows_as_in_slow_start() {
        // 20 in flight, 15 lost, new window 10: five deliveries, each allows one packet and one more.
        assert_eq!(sent_for(5, 15, 20, 10), 10);
    }
}
