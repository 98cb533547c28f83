//! Several queues that share one buffer.

use alloc::vec::Vec;

use airpath_model::{Backlog, Packet, Timestamp};

use crate::fifo::Fifo;

/// Numbered queues and their total backlog.
#[derive(Clone, Debug)]
pub(crate) struct Lanes<P> {
    lanes: Vec<Fifo<P>>,
    total: Backlog,
}

impl<P> Lanes<P> {
    /// Creates `count` empty queues.
    pub(crate) fn new(count: usize) -> Self {
        let lanes = core::iter::repeat_with(Fifo::new).take(count).collect();
        Self { lanes, total: Backlog::default() }
    }

    /// Returns the total backlog.
    pub(crate) const fn backlog(&self) -> Backlog {
        self.total
    }

    /// Returns the number of queues.
    pub(crate) fn count(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the queue with this index.
    pub(crate) fn lane(&self, index: usize) -> &Fifo<P> {
        &self.lanes[index]
    }

    /// Returns the index of the queue with the most bytes, the first one if there are several.
    pub(crate) fn longest(&self) -> usize {
        let mut longest = 0;
        for (index, lane) in self.lanes.iter().enumerate() {
            if lane.backlog().bytes > self.lanes[longest].backlog().bytes {
                longest = index;
            }
        }
        longest
    }
}

impl<P: Packet> Lanes<P> {
    /// Appends a packet to one queue.
    pub(crate) fn push(&mut self, index: usize, now: Timestamp, packet: P) {
        self.change(index, |lane| lane.push(now, packet));
    }

    /// Applies `change` to one queue and updates the total backlog.
    pub(crate) fn change<R>(&mut self, index: usize, change: impl FnOnce(&mut Fifo<P>) -> R) -> R {
        let lane = &mut self.lanes[index];
        let before = lane.backlog();
        let result = change(lane);
        let after = lane.backlog();
        self.total.bytes = self.total.bytes + after.bytes - before.bytes;
        self.total.packets = self.total.packets + after.packets - before.packets;
        result
    }
}
