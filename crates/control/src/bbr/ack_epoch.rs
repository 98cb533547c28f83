//! The time since acknowledgments last arrived as slowly as expected, and the data acknowledged in it.

use airpath_model::{Bytes, Rate, Timestamp};

/// The interval over which a burst of acknowledgments is measured (section 5.5.9; `ack_epoch` in Linux).
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckEpoch {
    start: Timestamp,
    acked: Bytes,
}

impl AckEpoch {
    /// Creates an interval that starts at `now`.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { start: now, acked: Bytes::ZERO }
    }

    /// Adds `acked` bytes that arrived at `now`, and returns by how much the data of the interval exceeds
    /// what a path with `bandwidth` delivers in it. The interval restarts if the data before it did not.
    pub(crate) fn excess(&mut self, now: Timestamp, acked: Bytes, bandwidth: Rate) -> Bytes {
        let mut expected = bandwidth.bytes_in(now.since(self.start));
        if self.acked <= expected {
            *self = Self::new(now);
            expected = Bytes::ZERO;
        }
        self.acked += acked;
        self.acked - expected
    }

    /// Moves the start to `now` and keeps the data.
    pub(crate) fn restart_clock(&mut self, now: Timestamp) {
        self.start = now;
    }

    /// Returns the data of the interval.
    pub(crate) fn acked(&self) -> Bytes {
        self.acked
    }
}
