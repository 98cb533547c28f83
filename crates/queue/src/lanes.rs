//! Several queues that share one buffer.

use alloc::vec::Vec;

use airpath_model::{Backlog, Packet, Timestamp};

use crate::fifo::Fifo;

/// Queues by number, and what waits in all of them together.
#[derive(Clone, Debug)]
pub(crate) struct Lanes<P> {
    lanes: Vec<Fifo<P>>,
    total: Backlog,
}

impl<P> Lanes<P> {
    /// So many empty queues.
    pub(crate) fn new(count: usize) -> Self {
        let lanes = core::iter::repeat_with(Fifo::new).take(count).collect();
        Self { lanes, total: Backlog::default() }
    }

    /// What waits in all of them.
    pub(crate) const fn backlog(&self) -> Backlog {
        self.total
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lanes.len()
    }

    /// One of them.
    pub(crate) fn lane(&self, index: usize) -> &Fifo<P> {
        &self.lanes[index]
    }

    /// The one in which most bytes wait, the first of several.
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
    /// A packet joins one of them.
    pub(crate) fn push(&mut self, index: usize, now: Timestamp, packet: P) {
        self.change(index, |lane| lane.push(now, packet));
    }

    /// Does something to one of them.
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
