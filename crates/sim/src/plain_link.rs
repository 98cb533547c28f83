//! One direction of a link at which nobody counts anything: drop-tail, one rate, one delay, and every packet arrives.
//!
//! What becomes of a packet is known when it comes: when it begins to leave, when it arrives. So nothing is caught up
//! with, and one line holds those that wait and those on their way. `tests/properties.rs` holds it against [`Link`],
//! which does the same step by step.
//!
//! [`Link`]: crate::link::Link

use std::collections::VecDeque;

use airpath_channel::SteadyRate;
use airpath_model::{Backlog, Bytes, DropReason, Duration, Packet as _, Timestamp, Transmission};
use airpath_queue::Limit;

use crate::packet::Packet;
use crate::record::Recorder;

/// One direction of a link at which nobody counts.
#[derive(Debug)]
pub(crate) struct PlainLink {
    /// Packets that wait or are on their way, in the order of arrival at the far end.
    line: VecDeque<InLine>,
    /// Of those, the last ones, which wait; some may have begun to leave since this was last looked at.
    waiting: Backlog,
    /// When the last packet in line has left.
    free_at: Timestamp,
    index: u32,
    limit: Limit,
    rate: SteadyRate,
    delay: Duration,
}

/// A packet between the two ends.
#[derive(Debug)]
struct InLine {
    begins: Timestamp,
    arrival: Timestamp,
    packet: Packet,
}

impl PlainLink {
    /// An idle link.
    pub(crate) fn new(index: u32, limit: Limit, rate: SteadyRate, delay: Duration) -> Self {
        Self {
            line: VecDeque::new(),
            waiting: Backlog::default(),
            free_at: Timestamp::ZERO,
            index,
            limit,
            rate,
            delay,
        }
    }

    /// A packet arrives at the near end at `now`.
    #[inline]
    pub(crate) fn offer(&mut self, now: Timestamp, mut packet: Packet, recorder: &mut Recorder) {
        // Departures at the same instant come first, so they have made room.
        self.let_begin(now);
        let size = packet.size();
        if !self.limit.admits(self.waiting, size) {
            recorder.on_drop(self.index, now, &packet, DropReason::Overflow);
            return;
        }
        let continues = self.free_at > now;
        let begins = self.free_at.max(now);
        if continues {
            packet.queueing += begins.since(now);
            self.waiting.packets += 1;
            self.waiting.bytes += size;
        }
        self.free_at = self.rate.departs(&Transmission { start: begins, size, continues });
        let arrival = self.free_at + self.delay;
        self.line.push_back(InLine { begins, arrival, packet });
    }

    /// The packet that arrives at the far end at `now`, if one does.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Timestamp) -> Option<Packet> {
        if self.next_event() > now {
            return None;
        }
        if self.waiting.packets == self.packets_inside() {
            self.one_begins(0);
        }
        self.line.pop_front().map(|head| head.packet)
    }

    /// When the link must be woken next: the head's arrival.
    pub(crate) fn next_event(&self) -> Timestamp {
        self.line.front().map_or(Timestamp::NEVER, |head| head.arrival)
    }

    /// Packets inside the link: waiting, being sent, or on the way.
    pub(crate) fn packets_inside(&self) -> u64 {
        self.line.len() as u64
    }

    /// Those that have begun to leave by `now` wait no more.
    fn let_begin(&mut self, now: Timestamp) {
        while self.waiting.packets > 0 {
            let first = self.line.len() - self.waiting.packets as usize;
            if self.line[first].begins > now {
                return;
            }
            self.one_begins(first);
        }
    }

    /// The packet at this place of the line, the first that waits, does not wait any more.
    fn one_begins(&mut self, place: usize) {
        self.waiting.packets -= 1;
        self.waiting.bytes -= Bytes::new(u64::from(self.line[place].packet.size));
    }
}
