//! A set of ordered FIFOs with access to the earliest of their heads.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};

use super::arrivals::Arrival;
use crate::event::Entry;
use crate::prefetch;

/// One lane per preceding link, since each link announces packets in order of arrival: a small heap then
/// finds the lane with the earliest arrival, for any number of packets.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lines: Vec<VecDeque<Arrival>>,
    /// The lane of each link; [`NO_LANE`] for links without one.
    of_links: Vec<u8>,
    /// The event of the first packet of each nonempty lane. Two lanes never have equal events, because an
    /// event identifies its link.
    firsts: BinaryHeap<Reverse<Entry>>,
}

/// Maximum number of lanes: with more links, a heap of packets is cheaper.
const MOST: usize = 64;

const NO_LANE: u8 = u8::MAX;

impl Lanes {
    /// Adds a future arrival. Returns it if it is earlier than the last one of its lane, or if no lane is
    /// free.
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

    /// Returns the event of the earliest arrival; [`Entry::NONE`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Entry {
        self.firsts.peek().map_or(Entry::NONE, |&Reverse(event)| event)
    }

    /// Removes and returns the earliest arrival.
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
