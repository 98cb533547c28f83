//! A drop-tail buffer with a router protocol looking over it.

use core::fmt::Debug;

use airpath_model::{Backlog, Packet, Qdisc, QueueSink, Timestamp};

use crate::{DropTail, Limit};

/// The work of a router in addition to queueing: measures traffic, computes feedback, and writes it into data packets.
///
/// Calls come in time order. Only data packets (`Packet::is_data`) carry a header of their own; the header of an
/// acknowledgment is an echo and must not be touched.
pub trait RouterProtocol<P: Packet>: Debug + Send {
    /// A packet reaches the queue, before it may be dropped; `backlog` is what waits before it.
    fn on_arrival(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog);

    /// A packet leaves the queue; `backlog` is what waits behind it.
    fn on_departure(&mut self, now: Timestamp, packet: &mut P, backlog: Backlog);

    /// The time asked for by [`RouterProtocol::next_timer`] has come.
    fn on_timer(&mut self, now: Timestamp, backlog: Backlog);

    /// When [`RouterProtocol::on_timer`] is wanted; [`Timestamp::NEVER`] when not.
    fn next_timer(&self) -> Timestamp;

    /// Reports quantities by name for the time series.
    fn observe(&self, report: &mut dyn FnMut(&'static str, f64));
}

/// A queue with a router protocol: the protocol sees every packet before it may be dropped and when it leaves.
#[derive(Debug)]
pub struct Router<P, T> {
    buffer: DropTail<P>,
    protocol: T,
}

impl<P: Packet, T: RouterProtocol<P>> Router<P, T> {
    /// An empty queue with that limit.
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
