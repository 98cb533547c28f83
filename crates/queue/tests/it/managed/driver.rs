//! A driver of one queue for these tests.

use airpath_model::{Backlog, Bytes, DropReason, Duration, Ecn, Qdisc, QueueSink, RandomStream, Timestamp};

use crate::packet::TestPacket;

/// The size of packets in tests that do not depend on it.
pub(crate) const SIZE: u64 = 1500;

/// A queue, the current time, and the fate of its packets.
#[derive(Debug)]
pub(crate) struct Driver {
    queue: Box<dyn Qdisc<TestPacket>>,
    pub(crate) now: Timestamp,
    pub(crate) arrived: u64,
    pub(crate) seen: Seen,
}

/// Drops with their times, numbers and reasons, and marks with their times and numbers.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) drops: Vec<(Timestamp, u64, DropReason)>,
    pub(crate) marks: Vec<(Timestamp, u64)>,
}

impl QueueSink<TestPacket> for Seen {
    fn on_drop(&mut self, now: Timestamp, packet: TestPacket, reason: DropReason) {
        self.drops.push((now, packet.number, reason));
    }

    fn on_mark(&mut self, now: Timestamp, packet: &TestPacket) {
        self.marks.push((now, packet.number));
    }
}

impl Driver {
    pub(crate) fn new(queue: impl Qdisc<TestPacket> + 'static) -> Self {
        Self { queue: Box::new(queue), now: Timestamp::ZERO, arrived: 0, seen: Seen::default() }
    }

    /// Enqueues a packet. Packets are numbered from zero.
    pub(crate) fn arrive(&mut self, size: u64, ecn: Ecn, flow: u64) {
        let packet = TestPacket { ecn, flow, ..TestPacket::new(self.arrived, Bytes::new(size)) };
        self.arrived += 1;
        self.queue.enqueue(self.now, packet, &mut self.seen);
    }

    /// Enqueues `packets` packets of a flow at once.
    pub(crate) fn burst(&mut self, packets: u64, ecn: Ecn, flow: u64) {
        (0..packets).for_each(|_| self.arrive(SIZE, ecn, flow));
    }

    pub(crate) fn depart(&mut self) -> Option<TestPacket> {
        self.queue.dequeue(self.now, &mut self.seen)
    }

    /// Advances the time by `span` and runs the timers that are due.
    pub(crate) fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        while self.queue.next_timer() <= end {
            self.now = self.queue.next_timer();
            self.queue.on_timer(self.now, &mut self.seen);
        }
        self.now = end;
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// Returns the number of packets dropped for this reason.
    pub(crate) fn dropped(&self, reason: DropReason) -> usize {
        self.seen.drops.iter().filter(|(.., why)| *why == reason).count()
    }

    /// Returns the quantity that the queue reports under `name`.
    pub(crate) fn observed(&self, name: &str) -> f64 {
        let mut found = None;
        self.queue.observe(&mut |reported, value| {
            if reported == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("{name} is not reported"))
    }
}

pub(crate) fn stream() -> RandomStream {
    RandomStream::new(1, "queue")
}

/// Returns a duration of `millis` milliseconds.
pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
