//! A queue as it is seen from time to time.

use airpath_model::{Backlog, Bytes, CapacitySource, Timestamp};

/// What passed a queue between two looks at it, as a router tells that counts packets in one place (the kernel) and
/// computes in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QueueSample {
    /// Traffic that reached the queue, dropped or not.
    pub arrived: Bytes,
    /// Traffic that left the queue.
    pub departed: Bytes,
    /// How many packets left it.
    pub departed_packets: u64,
    /// The shortest that the queue was seen, now included.
    pub shortest: Backlog,
    /// Current backlog.
    pub backlog: Backlog,
}

impl QueueSample {
    /// Tells a capacity source. The last packet that left is told alone: sources may ask how large a packet is.
    pub(crate) fn tell(&self, now: Timestamp, source: &mut dyn CapacitySource) {
        source.on_arrival(now, self.arrived, self.backlog);
        let last = Bytes::new(self.departed.get() / self.departed_packets.max(1));
        source.on_departure(now, self.departed - last, self.shortest);
        if self.departed_packets > 0 {
            source.on_departure(now, last, self.shortest);
        }
    }
}
