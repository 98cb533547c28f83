//! The event queue: integer time, ties in the order in which they were asked for, at most one live entry for each target.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airpath_model::Timestamp;
use airpath_plan::MAX_TARGETS;

/// What an event wakes: a link, one end of a flow, or the sampling clock. An index, because the queue does not
/// care which. Below 2^24.
pub type Target = u32;

/// The event queue.
///
/// Its size is links + timers, whatever the number of packets in flight: a link is a FIFO and waits only for the
/// packet at its head. An entry that was overtaken by an earlier one for the same target stays in the heap and is
/// skipped when it comes up. Links have a heap of their own: their events are near and come often, while timers are far
/// off, are many where flows are many, and seldom come up.
#[derive(Debug)]
pub struct EventQueue {
    links: Heap,
    timers: Heap,
    /// Targets below are links.
    first_timer: Target,
    /// Each target's live entry; [`Entry::NONE`] without one.
    live: Vec<Entry>,
    /// The event that was handed out last.
    current: Entry,
}

/// Entries, the earliest on top.
#[derive(Debug, Default)]
struct Heap {
    entries: BinaryHeap<Reverse<Entry>>,
    /// The entry at the top has been handed out already. What is inserted next takes its place, which costs half
    /// of taking one out and putting one in.
    top_is_spent: bool,
}

impl Heap {
    fn insert(&mut self, entry: Entry) {
        if self.top_is_spent {
            self.top_is_spent = false;
            if let Some(mut top) = self.entries.peek_mut() {
                *top = Reverse(entry);
            }
        } else {
            self.entries.push(Reverse(entry));
        }
    }

    /// The earliest entry that has not been handed out; [`Entry::NONE`] without one.
    fn top(&mut self) -> Entry {
        if self.top_is_spent {
            self.top_is_spent = false;
            self.entries.pop();
        }
        self.entries.peek().map_or(Entry::NONE, |&Reverse(entry)| entry)
    }
}

/// Time, then the time at which it was asked for (as an age of at most 2^40 ns, 18 minutes: all that are older count as equally
/// old), then target (24 bits), in one number so that one comparison orders entries.
///
/// So the order of events at one instant does not depend on how the engine came to know of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry(u128);

const TARGET_BITS: u32 = MAX_TARGETS.trailing_zeros();
const MAX_AGE: u64 = (1 << (64 - TARGET_BITS)) - 1;

impl Entry {
    /// Later than every entry.
    pub const NONE: Self = Self(u128::MAX);

    /// An event at `at` that was asked for at `since`.
    #[inline]
    pub fn new(at: Timestamp, since: Timestamp, target: Target) -> Self {
        let youth = MAX_AGE - at.as_nanos().saturating_sub(since.as_nanos()).min(MAX_AGE);
        Self(u128::from(at.as_nanos()) << 64 | u128::from(youth << TARGET_BITS | u64::from(target)))
    }

    /// After every event at that instant.
    pub fn last_at(at: Timestamp) -> Self {
        Self(u128::from(at.as_nanos()) << 64 | u128::from(u64::MAX))
    }

    /// Returns the time of the event.
    #[inline]
    pub fn at(self) -> Timestamp {
        Timestamp::from_nanos((self.0 >> 64) as u64)
    }

    /// Returns the time at which it was requested, at most 18 minutes before.
    pub fn since(self) -> Timestamp {
        let youth = self.0 as u64 >> TARGET_BITS;
        Timestamp::from_nanos(self.at().as_nanos().saturating_sub(MAX_AGE - youth))
    }

    /// Returns what the event wakes.
    #[inline]
    pub fn target(self) -> Target {
        self.0 as Target & (MAX_TARGETS as Target - 1)
    }
}

impl EventQueue {
    /// An empty queue for targets of which the first are links.
    pub fn new(links: usize, timers: usize) -> Self {
        debug_assert!(links + timers <= MAX_TARGETS);
        Self {
            links: Heap::default(),
            timers: Heap::default(),
            first_timer: links as Target,
            live: vec![Entry::NONE; links + timers],
            current: Entry(0),
        }
    }

    /// As [`Self::schedule_since`], asked for now.
    #[cfg(test)]
    fn schedule(&mut self, target: Target, at: Timestamp) {
        if at < self.live[target as usize].at() {
            self.insert(target, at, self.current.at());
        }
    }

    /// Wakes `target` at `at`, or earlier if it is due earlier already: who is woken looks at what is due. The event is as if it
    /// had been asked for at `since`.
    #[inline]
    pub fn schedule_since(&mut self, target: Target, at: Timestamp, since: Timestamp) {
        if at < self.live[target as usize].at() {
            self.insert(target, at, since);
        }
    }

    /// The event that is under way.
    #[inline]
    pub fn current(&self) -> Entry {
        self.current
    }

    /// All events up to and including this instant are over.
    pub fn all_over(&mut self, now: Timestamp) {
        self.current = self.current.max(Entry::last_at(now));
    }

    fn insert(&mut self, target: Target, at: Timestamp, since: Timestamp) {
        let entry = Entry::new(at, since, target);
        self.live[target as usize] = entry;
        let heap = if target < self.first_timer { &mut self.links } else { &mut self.timers };
        heap.insert(entry);
    }

    /// When the next event is due; [`Timestamp::NEVER`] without one.
    pub fn next_time(&mut self) -> Timestamp {
        loop {
            let (link, timer) = (self.links.top(), self.timers.top());
            let (heap, entry) =
                if link < timer { (&mut self.links, link) } else { (&mut self.timers, timer) };
            if entry == Entry::NONE {
                return Timestamp::NEVER;
            }
            if self.live[entry.target() as usize] == entry {
                return entry.at();
            }
            heap.top_is_spent = true;
        }
    }

    /// The next event; its target has no live entry any more.
    pub fn pop(&mut self) -> Option<(Timestamp, Target)> {
        loop {
            let (link, timer) = (self.links.top(), self.timers.top());
            let (heap, entry) =
                if link < timer { (&mut self.links, link) } else { (&mut self.timers, timer) };
            if entry == Entry::NONE {
                return None;
            }
            heap.top_is_spent = true;
            let live = &mut self.live[entry.target() as usize];
            if *live == entry {
                *live = Entry::NONE;
                self.current = entry;
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
    fn ties_come_out_in_the_order_in_which_they_were_asked_for() {
        let mut queue = EventQueue::new(3, 3);
        queue.schedule(5, at(3));
        for target in [4, 2] {
            queue.schedule(target, at(7));
        }
        queue.schedule_since(0, at(7), at(5));
        assert_eq!(queue.pop(), Some((at(3), 5)));
        for target in [3, 1] {
            queue.schedule(target, at(7)); // at 3
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, target)| target).collect();
        assert_eq!(order, [2, 4, 1, 3, 0]);
    }

    #[test]
    fn long_ago_is_as_long_ago_as_any() {
        let old = |since| Entry::new(at(1 << 50), at(since), 1);
        assert_eq!(old(0), old(1_000_000));
        assert!(old(0) < old((1 << 50) - 5));
        assert_eq!((old(3).at(), old(3).target()), (at(1 << 50), 1));
    }

    #[test]
    fn an_earlier_entry_replaces_a_later_one() {
        let mut queue = EventQueue::new(0, 1);
        queue.schedule(0, at(9));
        queue.schedule(0, at(4));
        queue.schedule(0, at(6));
        assert_eq!(queue.pop(), Some((at(4), 0)));
        assert_eq!(queue.pop(), None);
    }

    proptest! {
        /// Against a plain list, scheduling between events: every target fires at the earliest time asked for since
        /// it fired last, ties in the order in which they were asked for, then of targets.
        #[test]
        fn agrees_with_a_plain_list(steps in prop::collection::vec(prop::option::of((0_u32..6, 0_u64..20)), 0..200)) {
            let mut queue = EventQueue::new(3, 3);
            let mut list: Vec<(u64, u64, u32)> = Vec::new();
            let mut now = 0;
            for step in steps {
                if let Some((target, later)) = step {
                    let time = now + later;
                    queue.schedule(target, at(time));
                    if list.iter().all(|entry| entry.2 != target || entry.0 > time) {
                        list.retain(|entry| entry.2 != target);
                        list.push((time, now, target));
                    }
                } else {
                    list.sort_unstable();
                    let expected = (!list.is_empty()).then(|| list.remove(0));
                    now = expected.map_or(now, |entry| entry.0);
                    prop_assert_eq!(queue.next_time(), expected.map_or(Timestamp::NEVER, |entry| at(entry.0)));
                    prop_assert_eq!(queue.pop(), expected.map(|(time, _, target)| (at(time), target)));
                }
            }
        }

        /// Against a plain list: time never runs back and each target fires at the earliest time asked for.
        #[test]
        fn agrees_with_a_sorted_list(asked in prop::collection::vec((0_u32..8, 0_u64..50), 0..100)) {
            let mut queue = EventQueue::new(5, 3);
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
