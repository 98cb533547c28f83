//! Lines of which each is in order, and which of them comes first.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};

use crate::arrivals::Arrival;
use crate::event::{Entry, Target};
use crate::prefetch;

/// A lane for each link from which packets come, since each announces them in the order in which they come: a small heap then
/// knows which lane comes first, whatever the number of packets.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// From which link the packets of each lane come.
    feeders: Vec<Target>,
    lines: Vec<VecDeque<Arrival>>,
    /// The event of the first of each lane that is not empty, and that lane. Two lanes never have the same event: they are
    /// of different links.
    firsts: BinaryHeap<Reverse<(Entry, usize)>>,
    /// Where the last packet came.
    last: usize,
}

/// So many lanes at most: of more links a heap of packets costs less.
const MOST: usize = 64;

impl Lanes {
    /// A packet will come; gives it back if it comes before the last of its lane, or if there is no lane left for it.
    pub(crate) fn put(&mut self, arrival: Arrival) -> Result<(), Arrival> {
        let from = arrival.event.target();
        if self.feeders.get(self.last) != Some(&from) {
            match self.feeders.iter().position(|&feeder| feeder == from) {
                Some(lane) => self.last = lane,
                None if self.lines.len() == MOST => return Err(arrival),
                None => {
                    self.last = self.lines.len();
                    self.feeders.push(from);
                    self.lines.push(VecDeque::new());
                }
            }
        }
        let lane = &mut self.lines[self.last];
        match lane.back() {
            Some(last) if last.event > arrival.event => return Err(arrival),
            Some(_) => {}
            None => self.firsts.push(Reverse((arrival.event, self.last))),
        }
        lane.push_back(arrival);
        Ok(())
    }

    /// The packet that comes first.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Arrival> {
        let &Reverse((_, lane)) = self.firsts.peek()?;
        self.lines[lane].front()
    }

    /// Takes the packet that comes first.
    pub(crate) fn pop(&mut self) -> Option<Arrival> {
        let mut first = self.firsts.peek_mut()?;
        let lane = &mut self.lines[first.0.1];
        let arrival = lane.pop_front();
        match lane.front() {
            Some(next) => first.0.0 = next.event,
            None => {
                PeekMut::pop(first);
            }
        }
        prefetch::line(lane, 3, |next| Some(&next.packet));
        arrival
    }

    /// How many packets there are.
    pub(crate) fn len(&self) -> usize {
        self.lines.iter().map(VecDeque::len).sum()
    }
}
