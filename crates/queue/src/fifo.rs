//! A queue of packets with their arrival times.

use alloc::collections::VecDeque;

use airpath_model::{Backlog, Bytes, Duration, Packet, Timestamp};

/// A first-in, first-out queue without a limit.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    waiting: VecDeque<(Timestamp, P)>,
    bytes: Bytes,
}

impl<P> Fifo<P> {
    /// Creates an empty queue.
    pub(crate) const fn new() -> Self {
        Self { waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }

    /// Returns the backlog.
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { bytes: self.bytes, packets: self.waiting.len() as u64 }
    }

    /// Returns whether the queue is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the waiting time of the packet at the head, or zero if the queue is empty.
    pub(crate) fn delay(&self, now: Timestamp) -> Duration {
        self.waiting.front().map_or(Duration::ZERO, |&(arrived, _)| now.since(arrived))
    }
}

impl<P: Packet> Fifo<P> {
    /// Appends a packet.
    pub(crate) fn push(&mut self, now: Timestamp, packet: P) {
        self.bytes += packet.size();
        self.waiting.push_back((now, packet));
    }

    /// Removes the packet at the head and returns it with its arrival time.
    pub(crate) fn pop(&mut self) -> Option<(Timestamp, P)> {
        let (arrived, packet) = self.waiting.pop_front()?;
        self.bytes -= packet.size();
        Some((arrived, packet))
    }

    /// Removes and returns the packet at the tail.
    pub(crate) fn pop_last(&mut self) -> Option<P> {
        let (_, packet) = self.waiting.pop_back()?;
        self.bytes -= packet.size();
        Some(packet)
    }

    /// Returns the size of the packet at the head.
    pub(crate) fn head_size(&self) -> Option<Bytes> {
        self.waiting.front().map(|(_, packet)| packet.size())
    }
}
