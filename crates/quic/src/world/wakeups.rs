//! When who wants to be woken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airpath_model::Timestamp;
use quinn_proto::ConnectionHandle;

use super::host::Side;

/// Who wants to be woken, in the order in which they are at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wakee {
    Source(usize),
    Connection(Side, ConnectionHandle),
}

/// When who wants to be woken. What is no longer wanted stays inside; whoever is woken knows.
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
