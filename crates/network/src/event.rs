//! The event queue: integer time, ties in the order of requests, at most one live entry per target.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airpath_model::Timestamp;
use airpath_plan::MAX_TARGETS;

/// The target of an event: the index of a link, an endpoint of a flow, or the sampling clock. Less than 2^24.
pub type Target = u32;

/// The event queue.
///
/// Its size is links + timers, independent of the number of packets in flight: a link is a FIFO and waits
/// only for the packet at its head. An entry that was replaced by an earlier one of the same target stays in
/// the heap, and is skipped later. Links have a heap of their own: their events are near and frequent, while
/// timers are distant, numerous with many flows, and rare.
#[derive(Debug)]
pub struct EventQueue {
    links: Heap,
    timers: Heap,
    /// Smaller targets are links.
    first_timer: Target,
    /// The live entry of each target, or [`Entry::NONE`].
    live: Vec<Entry>,
    /// The current event.
    current: Entry,
}

/// A heap of entries with the earliest on top.
#[derive(Debug, Default)]
struct Heap {
    entries: BinaryHeap<Reverse<Entry>>,
    /// Whether the entry at the top was returned already. The next entry replaces it, at half the cost of a
    /// removal and an insertion.
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

    /// Returns the earliest entry that was not returned yet, or [`Entry::NONE`].
    fn top(&mut self) -> Entry {
        if self.top_is_spent {
            self.top_is_spent = false;
            self.entries.pop();
        }
        self.entries.peek().map_or(Entry::NONE, |&Reverse(entry)| entry)
    }
}

/// An entry: its time, then the time of its request (as an age of at most 2^40 ns, 18 minutes; older requests
/// count as equally old), then its target (24 bits), in one number, so that one comparison orders entries.
///
/// The order of events at the same time is therefore independent of when the engine received them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry(u128);

const TARGET_BITS: u32 = MAX_TARGETS.trailing_zeros();
const MAX_AGE: u64 = (1 << (64 - TARGET_BITS)) - 1;

impl Entry {
    /// Later than every entry.
    pub const NONE: Self = Self(u128::MAX);

    /// Returns an event at `at` that was requested at `since`.
    #[inline]
    pub fn new(at: Timestamp, since: Timestamp, target: Target) -> Self {
        let youth = MAX_AGE - at.as_nanos().saturating_sub(since.as_nanos()).min(MAX_AGE);
        Self(u128::from(at.as_nanos()) << 64 | u128::from(youth << TARGET_BITS | u64::from(target)))
    }

    /// Returns an entry after every event at that time.
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

    /// Returns the target of the event.
    #[inline]
    pub fn target(self) -> Target {
        self.0 as Target & (MAX_TARGETS as Target - 1)
    }
}

impl EventQueue {
    /// Returns an empty queue. The first targets are the links.
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

    /// Schedules an event as [`Self::schedule_since`] does, requested now.
    #[cfg(test)]
    fn schedule(&mut self, target: Target, at: Timestamp) {
        if at < self.live[target as usize].at() {
            self.insert(target, at, self.current.at());
        }
    }

    /// Schedules an event of `target` at `at`, unless an earlier one is scheduled already: a target processes
    /// everything that is due. The order of the event is as if it had been requested at `since`.
    #[inline]
    pub fn schedule_since(&mut self, target: Target, at: Timestamp, since: Timestamp) {
        if at < self.live[target as usize].at() {
            self.insert(target, at, since);
        }
    }

    /// Returns the current event.
    #[inline]
    pub fn current(&self) -> Entry {
        self.current
    }

    /// Marks all events up to and including this time as past.
    pub fn all_over(&mut self, now: Timestamp) {
        self.current = self.current.max(Entry::last_at(now));
    }

    fn insert(&mut self, target: Target, at: Timestamp, since: Timestamp) {
        let entry = Entry::new(at, since, target);
        self.live[target as usize] = entry;
        let heap = if target < self.first_timer { &mut self.links } else { &mut self.timers };
        heap.insert(entry);
    }

    /// Returns the time of the next event, or [`Timestamp::NEVER`].
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

    /// Removes and returns the next event.
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
    fn simultaneous_events_fire_in_the_order_of_request() {
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
    fn request_times_far_in_the_past_are_equal() {
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
        /// Compares with a plain list, with requests between events: every target fires at the earliest time
        /// requested since it last fired. Ties are in the order of requests, then of targets.
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

        /// Compares with a plain list: time never decreases, and each target fires at the earliest requested
        /// time.
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
