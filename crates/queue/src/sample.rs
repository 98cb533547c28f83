//! Samples of a queue.

use airpath_model::{Backlog, Bytes, CapacitySource, Timestamp};

/// The traffic through a queue between two samples, for a router that counts packets in one place (the
/// kernel) and computes in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QueueSample {
    /// Traffic that reached the queue, dropped or not.
    pub arrived: Bytes,
    /// Traffic that left the queue.
    pub departed: Bytes,
    /// Number of packets that left the queue.
    pub departed_packets: u64,
    /// The shortest observed queue, including the current one.
    pub shortest: Backlog,
    /// Current backlog.
    pub backlog: Backlog,
}

impl QueueSample {
    /// Reports the sample to a capacity source. The last packet that left is reported separately, because
    /// sources may need the size of a packet.
    pub(crate) fn tell(&self, now: Timestamp, source: &mut dyn CapacitySource) {
        source.on_arrival(now, self.arrived, self.backlog);
        let last = Bytes::new(self.departed.get() / self.departed_packets.max(1));
        source.on_departure(now, self.departed - last, self.shortest);
        if self.departed_packets > 0 {
            source.on_departure(now, last, self.shortest);
        }
    }
}
