//! Packets of which it is known when they will come.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::event::Entry;
use crate::lanes::Lanes;
use crate::packet::Packet;
use crate::prefetch;

/// Packets that will arrive at the near end of a link, the earliest first.
///
/// Those that are announced in the order in which they come wait in a line. Where links before this one are far ahead of others,
/// packets of the others wait in [lanes](Lanes), and what fits nowhere in a heap.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    line: VecDeque<Arrival>,
    lanes: Lanes,
    others: BinaryHeap<Arrival>,
    announced: u32,
}

/// A packet that will arrive. The greatest is the one that comes first, as the heap wants it.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The event that it would have been.
    pub(crate) event: Entry,
    /// Packets that arrive by the same event keep their order. May wrap: such packets are announced one after the other.
    number: u32,
    pub(crate) packet: Packet,
}

impl Arrivals {
    /// A packet will come. Tells whether it is now the first.
    pub(crate) fn announce(&mut self, event: Entry, packet: Packet) -> bool {
        self.announced = self.announced.wrapping_add(1);
        let arrival = Arrival { event, number: self.announced, packet };
        if self.line.back().is_some_and(|last| last.event <= event) {
            self.line.push_back(arrival);
            return false;
        }
        let was_first = self.next();
        if self.line.is_empty() {
            self.line.push_back(arrival);
        } else if let Err(arrival) = self.lanes.put(arrival) {
            self.others.push(arrival);
        }
        event < was_first
    }

    /// The event of the first; [`Entry::NONE`] without one.
    #[inline]
    pub(crate) fn next(&self) -> Entry {
        let event = |arrival: Option<&Arrival>| arrival.map_or(Entry::NONE, |arrival| arrival.event);
        event(self.line.front()).min(event(self.lanes.first())).min(event(self.others.peek()))
    }

    /// Takes the first, unless its event comes after `until`. Events that are equal are arrivals at the end of one link at one
    /// instant, and what was announced by such a one comes from an earlier of them.
    #[inline]
    pub(crate) fn take_until(&mut self, until: Entry) -> Option<(Entry, Packet)> {
        let (in_line, in_lanes, other) = (self.line.front(), self.lanes.first(), self.others.peek());
        // The greatest comes first, and nothing last.
        let first = in_line.max(in_lanes).max(other);
        let event = first.filter(|first| first.event <= until)?.event;
        let taken = if first == in_line {
            let taken = self.line.pop_front();
            prefetch::line(&self.line, 3, |next| Some(&next.packet));
            taken
        } else if first == in_lanes {
            self.lanes.pop()
        } else {
            self.others.pop()
        };
        taken.map(|arrival| (event, arrival.packet))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        (self.line.len() + self.lanes.len() + self.others.len()) as u64
    }
}

impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> Ordering {
        let number = || other.number.wrapping_sub(self.number).cast_signed().cmp(&0);
        other.event.cmp(&self.event).then_with(number)
    }
}

impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Arrival {}
