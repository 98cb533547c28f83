//! A drop-tail buffer with a router protocol.

use core::fmt::Debug;

use airpath_model::{Backlog, Packet, Qdisc, QueueSink, Timestamp};

use crate::{DropTail, Limit};

/// The work of a router in addition to queueing: it measures traffic, computes feedback, and writes the
/// feedback into data packets.
///
/// Calls are in time order. Only data packets (`Packet::is_data`) carry their own header; the header of an
/// acknowledgment is an echo and must not be changed.
pub trait RouterProtocol<P: Packet>: Debug + Send {
    /// Processes the arrival of a packet at the queue, before it may be dropped. `backlog` is the queue
    /// before the packet.
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog);

    /// Processes the departure of a packet from the queue. `backlog` is the queue behind the packet.
    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog);

    /// Processes the timer requested by [`RouterProtocol::next_timer`].
    fn on_timer(&mut self, now: Timestamp, backlog: Backlog);

    /// Returns the time at which [`RouterProtocol::on_timer`] is due, or [`Timestamp::NEVER`] if it is not
    /// needed.
    fn next_timer(&self) -> Timestamp;

    /// Reports quantities by name for the time series.
    fn observe(&self, report: &mut dyn FnMut(&'static str, f64));
}

/// A queue with a router protocol. The protocol processes every packet before it may be dropped and at its
/// departure.
#[derive(Debug)]
pub struct Router<P, T> {
    buffer: DropTail<P>,
    protocol: T,
}

impl<P: Packet, T: RouterProtocol<P>> Router<P, T> {
    /// Creates an empty queue with `limit`.
    pub fn new(limit: Limit, protocol: T) -> Self {
        Self { buffer: DropTail::new(limit), protocol }
    }
}

impl<P: Packet + Debug + Send, T: RouterProtocol<P>> Qdisc<P> for Router<P, T> {
    fn enqueue(&mut self, now: Timestamp, mut packet: P, sink: &mut dyn QueueSink<P>) {
        self.protocol.on_arrival(now, &mut packet, self.buffer.backlog());
        self.buffer.enqueue(now, packet, sink);
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        let mut packet = self.buffer.dequeue(now, sink)?;
        self.protocol.on_departure(now, &mut packet, self.buffer.backlog());
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.buffer.backlog()
    }

    fn on_timer(&mut self, now: Timestamp, _sink: &mut dyn QueueSink<P>) {
        self.protocol.on_timer(now, self.buffer.backlog());
    }

    fn next_timer(&self) -> Timestamp {
        self.protocol.next_timer()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        self.protocol.observe(report);
    }
}
