//! Lines of which each is in order, and which of them comes first.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};

use super::arrivals::Arrival;
use crate::event::Entry;
use crate::prefetch;

/// A lane for each link from which packets come, since each announces them in the order in which they come: a small heap then
/// knows which lane comes first, whatever the number of packets.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lines: Vec<VecDeque<Arrival>>,
    /// The lane of each link; [`NO_LANE`] of links that have none.
    of_links: Vec<u8>,
    /// The event of the first of each lane that is not empty. Two lanes never have the same: an event says of which link it is.
    firsts: BinaryHeap<Reverse<Entry>>,
}

/// So many lanes at most: of more links a heap of packets costs less.
const MOST: usize = 64;

const NO_LANE: u8 = u8::MAX;

impl Lanes {
    /// A packet will come; gives it back if it comes before the last of its lane, or if there is no lane left for it.
    pub(crate) fn put(&mut self, arrival: Arrival) -> Result<(), Arrival> {
        let from = arrival.event.target() as usize;
        let mut lane = self.of_links.get(from).copied().unwrap_or(NO_LANE);
        if lane == NO_LANE {
            if self.lines.len() == MOST {
                return Err(arrival);
            }
            lane = self.lines.len() as u8;
            self.lines.push(VecDeque::new());
            self.of_links.resize(self.of_links.len().max(from + 1), NO_LANE);
            self.of_links[from] = lane;
        }
        let packets = &mut self.lines[usize::from(lane)];
        match packets.back() {
            Some(last) if last.event > arrival.event => return Err(arrival),
            Some(_) => {}
            None => self.firsts.push(Reverse(arrival.event)),
        }
        packets.push_back(arrival);
        Ok(())
    }

    /// The event of the packet that comes first; [`Entry::NONE`] without one.
    #[inline]
    pub(crate) fn next(&self) -> Entry {
        self.firsts.peek().map_or(Entry::NONE, |&Reverse(event)| event)
    }

    /// Takes the packet that comes first.
    pub(crate) fn pop(&mut self) -> Option<Arrival> {
        let mut first = self.firsts.peek_mut()?;
        let lane = usize::from(self.of_links[first.0.target() as usize]);
        let packets = &mut self.lines[lane];
        let arrival = packets.pop_front();
        match packets.front() {
            Some(next) => first.0 = next.event,
            None => {
                PeekMut::pop(first);
            }
        }
        prefetch::line(packets, |next| Some(&next.packet));
        arrival
    }
}
