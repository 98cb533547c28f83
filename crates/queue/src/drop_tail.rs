//! First in, first out, with a limited buffer.

use alloc::collections::VecDeque;
use core::fmt::Debug;

use airpath_model::{Backlog, Bytes, DropReason, Packet, Qdisc, QueueSink, Timestamp};

use crate::Limit;

/// A drop-tail queue: packets depart in the order of their arrival, and a packet that does not fit is
/// dropped.
#[derive(Clone, Debug)]
pub struct DropTail<P> {
    limit: Limit,
    waiting: VecDeque<P>,
    bytes: Bytes,
}

impl<P> DropTail<P> {
    /// Creates an empty queue with `limit`.
    pub const fn new(limit: Limit) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }
}

impl<P: Packet + Debug + Send> DropTail<P> {
    /// Returns the packet at the head of the queue.
    #[inline]
    pub fn take(&mut self) -> Option<P> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= packet.size();
        Some(packet)
    }

    /// Returns the packet at the distance of `places` behind the head.
    #[inline]
    pub fn behind(&self, places: usize) -> Option<&P> {
        self.waiting.get(places)
    }

    /// Returns whether the buffer has room for a packet of `size`.
    pub(crate) fn has_room(&self, size: Bytes) -> bool {
        self.limit.admits(self.backlog(), size)
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for DropTail<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        let size = packet.size();
        if self.has_room(size) {
            self.bytes += size;
            self.waiting.push_back(packet);
        } else {
            sink.on_drop(now, packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, _now: Timestamp, _sink: &mut dyn QueueSink<P>) -> Option<P> {
        self.take()
    }

    fn pass(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) -> Option<P> {
        if self.waiting.is_empty() && self.limit.admits(Backlog::default(), packet.size()) {
            return Some(packet);
        }
        self.enqueue(now, packet, sink);
        self.dequeue(now, sink)
    }

    fn backlog(&self) -> Backlog {
        Backlog { bytes: self.bytes, packets: self.waiting.len() as u64 }
    }
}
