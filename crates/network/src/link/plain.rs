//! One direction of a link without measurements: drop-tail, one rate, one delay, and every packet arrives.
//!
//! The fate of a packet is known at its arrival: when its transmission begins and when it reaches the far
//! end. Therefore no internal events are processed, and one line contains both waiting packets and packets in
//! flight. `tests/it/properties.rs` compares it with [`Link`], which does the same step by step.
//!
//! [`Link`]: crate::link::Link

use std::collections::VecDeque;

use airpath_channel::SteadyRate;
use airpath_model::{Backlog, Bytes, DropReason, Duration, Packet as _, Timestamp, Transmission};
use airpath_queue::Limit;

use crate::context::Context;
use crate::event::{Entry, Target};
use crate::packet::Packet;
use crate::prefetch;

/// One direction of a link without measurements.
#[derive(Debug)]
pub(crate) struct PlainLink {
    /// Packets that wait or are in flight, in the order of arrival at the far end. If another link takes them
    /// ([`PlainLink::into`]), only the times of waiting packets.
    line: VecDeque<InLine>,
    /// The backlog of waiting packets, the last ones of `line`. Some may have begun transmission since the
    /// last update.
    waiting: Backlog,
    /// The next link of every packet if that link takes announcements, otherwise [`NOWHERE`].
    into: Target,
    /// Whether a packet was ever accepted.
    used: bool,
    limit: Limit,
    rate: SteadyRate,
    delay: Duration,
}

/// Greater than the number of any link.
const NOWHERE: Target = Target::MAX;

/// A packet between the two ends.
#[derive(Debug)]
pub(crate) struct InLine {
    /// The time at which it was offered, or became the first of the packets that [pass](PlainLink::pass).
    pub(crate) offered: Timestamp,
    /// The time at which its transmission begins.
    pub(crate) begins: Timestamp,
    /// The time of its arrival at the far end.
    pub(crate) arrival: Timestamp,
    size: u32,
    /// `None` if another link has it.
    pub(crate) packet: Option<Packet>,
}

/// The fate of an offered packet.
#[derive(Debug)]
pub(crate) enum Offered {
    /// It was dropped, or is not the first in line.
    Nothing,
    /// It is the first in line: its arrival time, and the time at which that event would have been scheduled.
    First { arrival: Timestamp, since: Timestamp },
    /// It will arrive by that event at the link that takes announcements.
    Announced(Target, Entry, Packet),
}

impl PlainLink {
    /// Creates an idle link.
    pub(crate) fn new(limit: Limit, rate: SteadyRate, delay: Duration) -> Self {
        Self {
            line: VecDeque::new(),
            waiting: Backlog::default(),
            into: NOWHERE,
            used: false,
            limit,
            rate,
            delay,
        }
    }

    /// Announces all further packets to the next link as soon as their arrival times are known.
    pub(crate) fn announce_to(&mut self, next: Target) {
        self.into = next;
    }

    /// Returns the time from a packet's departure to its arrival.
    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns whether the link announces its packets to the next link.
    pub(crate) fn announces(&self) -> bool {
        self.into != NOWHERE
    }

    /// Returns the link to which this link announces its packets.
    #[inline]
    pub(crate) fn announces_to(&self) -> Option<Target> {
        self.announces().then_some(self.into)
    }

    /// Accepts or drops a packet at the near end of this link, which has index `index`, at `now`. This time
    /// may be in the future if nothing else can arrive before.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        index: Target,
        now: Timestamp,
        mut packet: Packet,
        context: &mut Context,
    ) -> Offered {
        // Departures at the same instant come first, and make room.
        self.let_begin(now);
        let size = packet.size();
        if !self.limit.admits(self.waiting, size) {
            context.on_gone(index, now, packet, DropReason::Overflow);
            return Offered::Nothing;
        }
        let free_at = self.rate.free_at();
        let continues = free_at > now;
        let begins = free_at.max(now);
        if continues {
            packet.queueing += begins.since(now);
            self.waiting.packets += 1;
            self.waiting.bytes += size;
        }
        // The arrival time of the previous packet, at which this one becomes the first in line. The previous
        // packet may be gone already if the endpoint received it ahead of time.
        let since = if self.used { now.max(free_at + self.delay) } else { now };
        self.used = true;
        let departs = self.rate.departs(&Transmission { start: begins, size, continues });
        let arrival = departs + self.delay;
        let in_line = InLine { offered: now, begins, arrival, size: packet.size, packet: None };
        if self.announces() {
            if continues {
                self.line.push_back(in_line);
            }
            return Offered::Announced(self.into, Entry::new(arrival, since, index), packet);
        }
        let first = self.line.is_empty();
        self.line.push_back(InLine { packet: Some(packet), ..in_line });
        if first { Offered::First { arrival, since } } else { Offered::Nothing }
    }

    /// Passes a packet that arrives at the near end at `at`, now or later, from a link that never fills this
    /// queue and whose packets all take this link. Returns it with its arrival event at the far end.
    #[inline]
    pub(crate) fn pass(&mut self, index: Target, at: Timestamp, mut packet: Packet) -> (Entry, Packet) {
        let free_at = self.rate.free_at();
        let continues = free_at > at;
        let begins = free_at.max(at);
        packet.queueing += begins.since(at);
        // The arrival time of the previous packet, at which this one became the first in line.
        let since = if self.used { at.max(free_at + self.delay) } else { at };
        self.used = true;
        let departs = self.rate.departs(&Transmission { start: begins, size: packet.size(), continues });
        (Entry::new(departs + self.delay, since, index), packet)
    }

    /// Returns whether all packets inside were announced to another link.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Keeps a passing packet until it arrives at the far end. Returns whether it is the first in line.
    pub(crate) fn keep(&mut self, event: Entry, packet: Packet) -> bool {
        let first = self.line.is_empty();
        // Without a limit the number of waiting packets is not needed.
        let begins = Timestamp::ZERO;
        let (offered, arrival, size) = (event.since(), event.at(), packet.size);
        self.line.push_back(InLine { offered, begins, arrival, size, packet: Some(packet) });
        first
    }

    /// Returns the packet that arrives at the far end at `now`, if any.
    #[inline]
    pub(crate) fn deliver(&mut self, now: Timestamp) -> Option<Packet> {
        if self.line.front().is_none_or(|head| head.arrival > now) {
            return None;
        }
        if self.waiting.packets == self.line.len() as u64 {
            self.one_begins(0);
        }
        let head = self.line.pop_front();
        prefetch::line(&self.line, |next| next.packet.as_ref());
        head.and_then(|head| head.packet)
    }

    /// Returns the head of the line.
    #[inline]
    pub(crate) fn head(&self) -> Option<&InLine> {
        self.line.front()
    }

    /// Returns the number of packets inside the link: waiting, being sent, or in flight, unless they were
    /// announced to another link.
    pub(crate) fn packets_inside(&self) -> u64 {
        if self.announces() { 0 } else { self.line.len() as u64 }
    }

    /// Removes the packets that have begun transmission by `now` from the backlog.
    fn let_begin(&mut self, now: Timestamp) {
        while self.waiting.packets > 0 {
            let first = self.line.len() - self.waiting.packets as usize;
            if self.line[first].begins > now {
                return;
            }
            self.one_begins(first);
        }
    }

    /// Removes the first waiting packet, at this position of the line, from the backlog.
    fn one_begins(&mut self, place: usize) {
        self.waiting.packets -= 1;
        self.waiting.bytes -= Bytes::new(u64::from(self.line[place].size));
        if self.announces() {
            self.line.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_link_fills_two_cache_lines() {
        let size = size_of::<crate::link::AnyLink>();
        assert!(size <= 128, "{size} bytes");
    }
}
