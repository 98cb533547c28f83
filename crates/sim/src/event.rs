//! The event queue: integer time, ties in the order of insertion, at most one live entry for each target.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airpath_model::Timestamp;

/// What an event wakes: a link, one end of a flow, or the sampling clock. An index, because the queue does not
/// care which. Below 2^24.
pub(crate) type Target = u32;

/// The event queue.
///
/// Its size is links + timers, whatever the number of packets in flight: a link is a FIFO and waits only for the
/// packet at its head. An entry that was overtaken by an earlier one for the same target stays in the heap and is
/// skipped when it comes up.
#[derive(Debug)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<Entry>>,
    /// The entry at the top has been handed out already. What is scheduled next takes its place, which costs half
    /// of taking one out and putting one in.
    top_is_spent: bool,
    /// Each target's live entry; [`Entry::NONE`] without one.
    live: Vec<Entry>,
    inserted: u64,
}

/// Time, then number of insertion (40 bits: a million million), then target (24 bits), in one number so that one
/// comparison orders entries. The target decides nothing, because insertion numbers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

/// How many targets there can be.
pub(crate) const MAX_TARGETS: usize = 1 << TARGET_BITS;

const TARGET_BITS: u32 = 24;

impl Entry {
    /// Later than every entry.
    const NONE: Self = Self(u128::MAX);

    fn new(at: Timestamp, inserted: u64, target: Target) -> Self {
        Self(u128::from(at.as_nanos()) << 64 | u128::from(inserted << TARGET_BITS | u64::from(target)))
    }

    fn at(self) -> Timestamp {
        Timestamp::from_nanos((self.0 >> 64) as u64)
    }

    fn target(self) -> Target {
        self.0 as Target & (MAX_TARGETS as Target - 1)
    }
}

impl EventQueue {
    /// An empty queue for `targets` targets.
    pub(crate) fn new(targets: usize) -> Self {
        debug_assert!(targets <= MAX_TARGETS);
        Self {
            heap: BinaryHeap::with_capacity(targets),
            top_is_spent: false,
            live: vec![Entry::NONE; targets],
            inserted: 0,
        }
    }

    /// Wakes `target` at `at`, or earlier if it is due earlier already: who is woken looks at what is due.
    #[inline]
    pub(crate) fn schedule(&mut self, target: Target, at: Timestamp) {
        if at < self.live[target as usize].at() {
            self.insert(target, at);
        }
    }

    fn insert(&mut self, target: Target, at: Timestamp) {
        let live = &mut self.live[target as usize];
        *live = Entry::new(at, self.inserted, target);
        let entry = Reverse(*live);
        self.inserted += 1;
        if self.top_is_spent {
            self.top_is_spent = false;
            if let Some(mut top) = self.heap.peek_mut() {
                *top = entry;
            }
        } else {
            self.heap.push(entry);
        }
    }

    /// The next event; its target has no live entry any more.
    pub(crate) fn pop(&mut self) -> Option<(Timestamp, Target)> {
        loop {
            if self.top_is_spent {
                self.heap.pop();
            }
            let Some(&Reverse(entry)) = self.heap.peek() else {
                self.top_is_spent = false;
                return None;
            };
            self.top_is_spent = true;
            let live = &mut self.live[entry.target() as usize];
            if *live == entry {
                *live = Entry::NONE;
                return Some((entry.at(), entry.target()));
            }
        }
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
        /// Against a plain list, scheduling between events: every target fires at the earliest time asked for since
        /// it fired last, ties in the order of insertion.
        #[test]
        fn agrees_with_a_plain_list(steps in prop::collection::vec(prop::option::of((0_u32..6, 0_u64..20)), 0..200)) {
            let mut queue = EventQueue::new(6);
            let mut list: Vec<(u64, usize, u32)> = Vec::new();
            let mut now = 0;
            for (number, step) in steps.into_iter().enumerate() {
                if let Some((target, later)) = step {
                    let time = now + later;
                    queue.schedule(target, at(time));
                    if list.iter().all(|entry| entry.2 != target || entry.0 > time) {
                        list.retain(|entry| entry.2 != target);
                        list.push((time, number, target));
                    }
                } else {
                    list.sort_unstable();
                    let expected = (!list.is_empty()).then(|| list.remove(0));
                    now = expected.map_or(now, |entry| entry.0);
                    prop_assert_eq!(queue.pop(), expected.map(|(time, _, target)| (at(time), target)));
                }
            }
        }

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
