//! The timer queue: next wake-up time of hosts, connections and sources.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airpath_model::Timestamp;
use quinn_proto::ConnectionHandle;

use super::host::Side;

/// The component to wake, in the order of wake-ups at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wakee {
    Source(usize),
    Connection(Side, ConnectionHandle),
}

/// The timer queue. Obsolete wake-ups stay in it; the woken component ignores them.
#[derive(Debug, Default)]
pub(super) struct Wakeups(BinaryHeap<Reverse<(Timestamp, Wakee)>>);

impl Wakeups {
    pub(super) fn at(&mut self, due: Timestamp, wakee: Wakee) {
        if due.is_scheduled() {
            self.0.push(Reverse((due, wakee)));
        }
    }

    pub(super) fn next(&self) -> Timestamp {
        self.0.peek().map_or(Timestamp::NEVER, |Reverse((due, _))| *due)
    }

    pub(super) fn due(&mut self, now: Timestamp) -> Option<(Timestamp, Wakee)> {
        (self.next() <= now).then(|| self.0.pop()).flatten().map(|Reverse(due)| due)
    }
}
