//! An external queue: packets leave the network to it, and return when they leave the queue.

use std::collections::VecDeque;

use airpath_model::{Backlog, Bytes, DropReason, Packet as _, Qdisc, QueueSink, Timestamp};

use crate::packet::{Body, Packet};

/// The link's view of an external queue. Packets that came back wait here until the transmitter is free. They
/// do not wait if the external queue keeps to the link's rate.
#[derive(Debug, Default)]
pub(crate) struct OutsideQueue {
    /// In the order of arrival.
    outside: VecDeque<Packet>,
    /// Number of packets, at the end, that were not yet passed to the caller.
    untold: usize,
    back: VecDeque<Packet>,
    backlog: Backlog,
}

impl OutsideQueue {
    /// Returns the handle of the next packet to pass to the caller.
    pub(crate) fn next_out(&mut self) -> Option<u32> {
        let packet = self.outside.get(self.outside.len().checked_sub(self.untold)?)?;
        self.untold -= 1;
        handle(packet)
    }

    /// Removes and returns the packet with this handle. Packets before it remain in the external queue.
    pub(crate) fn take(&mut self, wanted: u32) -> Option<Packet> {
        let told = self.outside.len() - self.untold;
        let place = self.outside.iter().take(told).position(|packet| handle(packet) == Some(wanted))?;
        let packet = self.outside.remove(place)?;
        self.forget(&packet);
        Some(packet)
    }

    /// Enqueues a returned packet for the transmitter.
    pub(crate) fn put_back(&mut self, packet: Packet) {
        self.count(&packet);
        self.back.push_back(packet);
    }

    /// Returns the backlog of the external queue.
    pub(crate) fn outside(&self) -> Backlog {
        Backlog { bytes: self.backlog.bytes - self.back(), packets: self.outside.len() as u64 }
    }

    /// Returns the bytes that came back and wait for the transmitter.
    pub(crate) fn back(&self) -> Bytes {
        self.back.iter().map(airpath_model::Packet::size).sum()
    }

    fn count(&mut self, packet: &Packet) {
        self.backlog.bytes += packet.size();
        self.backlog.packets += 1;
    }

    fn forget(&mut self, packet: &Packet) {
        self.backlog.bytes -= packet.size();
        self.backlog.packets -= 1;
    }
}

fn handle(packet: &Packet) -> Option<u32> {
    match packet.body {
        Body::External(external) => Some(external.handle),
        _ => None,
    }
}

impl Qdisc<Packet> for OutsideQueue {
    fn enqueue(&mut self, now: Timestamp, packet: Packet, sink: &mut dyn QueueSink<Packet>) {
        // Only external packets have a handle.
        if handle(&packet).is_none() {
            return sink.on_drop(now, packet, DropReason::Overflow);
        }
        self.count(&packet);
        self.untold += 1;
        self.outside.push_back(packet);
    }

    fn dequeue(&mut self, _now: Timestamp, _sink: &mut dyn QueueSink<Packet>) -> Option<Packet> {
        let packet = self.back.pop_front()?;
        self.forget(&packet);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
