//! A driver of one router for these tests.

use airpath_model::{Bytes, DropReason, PathHeader, Qdisc, QueueSink, Timestamp};
use airpath_queue::{Limit, Router, RouterProtocol};

use crate::packet::TestPacket;

/// A router over an unlimited buffer, and the current time.
#[derive(Debug)]
pub(crate) struct Driver<T> {
    router: Router<TestPacket, T>,
    pub(crate) now: Timestamp,
    arrived: u64,
}

impl<T: RouterProtocol<TestPacket>> Driver<T> {
    pub(crate) fn new(protocol: T) -> Self {
        Self { router: Router::new(Limit::Unlimited, protocol), now: Timestamp::ZERO, arrived: 0 }
    }

    /// Advances the time to `end` and runs the timers that are due.
    pub(crate) fn run_to(&mut self, end: Timestamp) {
        while self.router.next_timer() <= end {
            self.now = self.router.next_timer();
            self.router.on_timer(self.now, &mut NoDrops);
        }
        self.now = end;
    }

    pub(crate) fn arrive(&mut self, size: Bytes, is_data: bool, header: PathHeader) {
        let packet = TestPacket { is_data, header, ..TestPacket::new(self.arrived, size) };
        self.arrived += 1;
        self.router.enqueue(self.now, packet, &mut NoDrops);
    }

    pub(crate) fn depart(&mut self) -> Option<TestPacket> {
        self.router.dequeue(self.now, &mut NoDrops)
    }

    /// Returns the quantity that the router reports under `name`.
    pub(crate) fn observed(&self, name: &str) -> f64 {
        let mut found = None;
        self.router.observe(&mut |reported, value| {
            if reported == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("{name} is not reported"))
    }
}

struct NoDrops;

impl QueueSink<TestPacket> for NoDrops {
    fn on_drop(&mut self, now: Timestamp, packet: TestPacket, _reason: DropReason) {
        panic!("{packet:?} dropped at {now:?}");
    }
}
