//! Packets whose future arrival times are known.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use super::lanes::Lanes;
use crate::event::Entry;
use crate::packet::Packet;
use crate::prefetch;

/// Future arrivals at the near end of a link, in time order.
///
/// Packets announced in order of arrival are queued in a FIFO. If some of the preceding links look further
/// ahead than others, packets of the others are queued in [lanes](Lanes), and packets that fit nowhere in a
/// heap.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    line: VecDeque<Arrival>,
    lanes: Lanes,
    others: BinaryHeap<Arrival>,
    /// Number of packets outside the FIFO.
    beside: usize,
    announced: u32,
}

/// A future arrival. The greatest is the earliest, as the heap requires.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The event that would otherwise have been scheduled.
    pub(crate) event: Entry,
    /// Keeps packets that arrive by the same event in order. May wrap, because such packets are announced
    /// consecutively.
    number: u32,
    pub(crate) packet: Packet,
}

impl Arrivals {
    /// Adds a future arrival. Returns whether it is now the first.
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
        } else {
            self.beside += 1;
            if let Err(arrival) = self.lanes.put(arrival) {
                self.others.push(arrival);
            }
        }
        event < was_first
    }

    /// Returns the event of the first arrival; [`Entry::NONE`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Entry {
        let in_line = self.next_in_line();
        if self.beside == 0 { in_line } else { in_line.min(self.lanes.next()).min(self.next_other()) }
    }

    #[inline]
    fn next_in_line(&self) -> Entry {
        self.line.front().map_or(Entry::NONE, |first| first.event)
    }

    fn next_other(&self) -> Entry {
        self.others.peek().map_or(Entry::NONE, |first| first.event)
    }

    /// Removes and returns the first arrival, unless its event comes after `until`. Equal events are arrivals
    /// at the end of one link at the same time, and packets announced by such an event come from an earlier
    /// one of them.
    #[inline]
    pub(crate) fn take_until(&mut self, until: Entry) -> Option<(Entry, Packet)> {
        let in_line = self.next_in_line();
        let mut event = in_line;
        if self.beside > 0 {
            let in_lanes = self.lanes.next();
            event = event.min(in_lanes).min(self.next_other());
            // Of equal events, the one in the FIFO was announced first, then those in a lane: a packet that
            // did not fit when one of them was announced does not fit as long as that one is queued.
            if event < in_line && event <= until {
                self.beside -= 1;
                let taken = if in_lanes == event { self.lanes.pop() } else { self.others.pop() };
                return taken.map(|arrival| (event, arrival.packet));
            }
        }
        if event > until {
            return None;
        }
        let taken = self.line.pop_front();
        prefetch::line(&self.line, |next| Some(&next.packet));
        taken.map(|arrival| (event, arrival.packet))
    }

    /// Returns the number of arrivals.
    pub(crate) fn len(&self) -> u64 {
        (self.line.len() + self.beside) as u64
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

#[cfg(test)]
mod tests {
    use super::*;
    use airpath_model::{Duration, PathHeader, Timestamp};
    use proptest::prelude::*;

    use crate::packet::{Body, Contents, PacketPool};

    /// Returns a packet that is identified by its number.
    fn packet(number: usize) -> Packet {
        PacketPool::default().packet(Contents {
            flow: number as u32,
            connection: 0,
            hop: 0,
            size: 1500,
            enqueued_at: Timestamp::ZERO,
            queueing: Duration::ZERO,
            body: Body::Datagram { sequence: 0, sent_at: Timestamp::ZERO, path: PathHeader::None },
        })
    }

    proptest! {
        /// Compares with a plain list: packets of up to a hundred links, each announced for one of few
        /// instants, nearly all links in order, with occasional removals.
        #[test]
        fn agrees_with_a_plain_list(
            steps in prop::collection::vec((0_u32..100, 0_u64..40, prop::bool::weighted(0.9)), 1..400),
        ) {
            let (mut arrivals, mut list, mut latest) = (Arrivals::default(), Vec::new(), [0; 100]);
            let (mut until, mut taken, mut wanted) = (Entry::new(Timestamp::ZERO, Timestamp::ZERO, 0), Vec::new(), Vec::new());
            for (number, (from, later, in_order)) in steps.into_iter().enumerate() {
                // Not before the removed packets; of a link in order, one nanosecond apart or at the same
                // instant.
                let earliest = until.at().as_nanos() + 1;
                let at = if in_order { earliest.max(latest[from as usize]) + later / 20 } else { earliest + later };
                latest[from as usize] = latest[from as usize].max(at);
                let event = Entry::new(Timestamp::from_nanos(at), Timestamp::ZERO, from);
                let first = list.iter().map(|&(event, _)| event).min().unwrap_or(Entry::NONE);
                prop_assert_eq!(arrivals.next(), first);
                prop_assert_eq!(arrivals.announce(event, packet(number)), event < first);
                list.push((event, number));
                if later % 10 == 0 {
                    until = Entry::last_at(Timestamp::from_nanos(until.at().as_nanos() + later));
                    list.sort_unstable();
                    let rest = list.partition_point(|&(event, _)| event <= until);
                    wanted.extend(list.drain(..rest));
                    taken.extend(std::iter::from_fn(|| arrivals.take_until(until)));
                }
                prop_assert_eq!(arrivals.len(), list.len() as u64);
            }
            let taken: Vec<_> = taken.iter().map(|(event, packet)| (*event, packet.flow as usize)).collect();
            prop_assert_eq!(taken, wanted);
        }
    }
}
