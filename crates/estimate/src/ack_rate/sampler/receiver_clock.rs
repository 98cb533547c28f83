//! Samples measured by the receiver's clock.

use airpath_model::{AckEvent, Bytes, Duration};

use crate::ack_rate::sample::Sample;

/// Data divided by the time between two timestamps of the receiver (SARBE eq. 1). If the timestamp does not
/// change, or decreases because acknowledgments were reordered, the data counts for the next sample.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverClock {
    resolution: Duration,
    /// The largest timestamp, in steps of the clock. The first acknowledgment only starts the clock.
    stamp: Option<u64>,
    amount: Bytes,
}

impl ReceiverClock {
    pub(crate) fn new(resolution: Duration) -> Self {
        Self { resolution, stamp: None, amount: Bytes::ZERO }
    }

    pub(crate) fn on_ack(&mut self, amount: Bytes, event: &AckEvent) -> Option<Sample> {
        let stamp = event.receiver_time.map(|time| time.as_nanos() / self.resolution.as_nanos());
        let Some(before) = self.stamp else {
            self.stamp = stamp;
            return None;
        };
        self.amount += amount;
        let stamp = stamp.filter(|stamp| *stamp > before)?;
        let sample = Sample::new(self.amount, self.resolution * (stamp - before));
        self.stamp = Some(stamp);
        self.amount = Bytes::ZERO;
        Some(sample)
    }
}
