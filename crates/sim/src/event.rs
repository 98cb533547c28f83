//! The event queue: integer time, ties in the order of insertion, at most one live entry for each target.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airpath_model::Timestamp;

/// What an event wakes: a link, one end of a flow, or the sampling clock. An index, because the queue does not
/// care which.
pub(crate) type Target = u32;

/// The event queue.
///
/// Its size is links + timers, whatever the number of packets in flight: a link is a FIFO and waits only for the
/// packet at its head. An entry that was overtaken by an earlier one for the same target stays in the heap and is
/// skipped when it comes up.
#[derive(Debug)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<Entry>>,
    /// When each target's live entry is due; `NEVER` without one.
    due: Vec<Timestamp>,
    inserted: u64,
}

/// Ordered by time, then by insertion. The target takes part in no decision: insertion numbers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Timestamp,
    inserted: u64,
    target: Target,
}

impl EventQueue {
    /// An empty queue for `targets` targets.
    pub(crate) fn new(targets: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(targets), due: vec![Timestamp::NEVER; targets], inserted: 0 }
    }

    /// Wakes `target` at `at`, or earlier if it is due earlier already: who is woken looks at what is due.
    pub(crate) fn schedule(&mut self, target: Target, at: Timestamp) {
        let due = &mut self.due[target as usize];
        if at < *due {
            *due = at;
            self.heap.push(Reverse(Entry { at, inserted: self.inserted, target }));
            self.inserted += 1;
        }
    }

    /// The next event; its target has no live entry any more.
    pub(crate) fn pop(&mut self) -> Option<(Timestamp, Target)> {
        while let Some(Reverse(entry)) = self.heap.pop() {
            let due = &mut self.due[entry.target as usize];
            if *due == entry.at {
                *due = Timestamp::NEVER;
                return Some((entry.at, entry.target));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_nanos(nanos)
    }

    #[test]
    fn ties_come_out_in_the_order_of_insertion() {
        let mut queue = EventQueue::new(4);
        for target in [2, 0, 3, 1] {
            queue.schedule(target, at(7));
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, target)| target).collect();
        assert_eq!(order, [2, 0, 3, 1]);
    }

    #[test]
    fn an_earlier_entry_replaces_a_later_one() {
        let mut queue = EventQueue::new(1);
        queue.schedule(0, at(9));
        queue.schedule(0, at(4));
        queue.schedule(0, at(6));
        assert_eq!(queue.pop(), Some((at(4), 0)));
        assert_eq!(queue.pop(), None);
    }

    proptest! {
        /// Against a plain list: time never runs back and each target fires at the earliest time asked for.
        #[test]
        fn agrees_with_a_sorted_list(asked in prop::collection::vec((0_u32..8, 0_u64..50), 0..100)) {
            let mut queue = EventQueue::new(8);
            let mut earliest = [u64::MAX; 8];
            for &(target, time) in &asked {
                queue.schedule(target, at(time));
                earliest[target as usize] = earliest[target as usize].min(time);
            }
            let mut last = Timestamp::ZERO;
            let mut fired = [u64::MAX; 8];
            while let Some((time, target)) = queue.pop() {
                prop_assert!(time >= last);
                last = time;
                prop_assert_eq!(fired[target as usize], u64::MAX);
                fired[target as usize] = time.as_nanos();
            }
            prop_assert_eq!(fired, earliest);
        }
    }
}
