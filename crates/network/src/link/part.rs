//! The queue and the channel of a link. The kinds that most links have are stored inline and called directly;
//! all others are behind trait objects.

use airpath_channel::{LinkChannel, NoErrors};
use airpath_model::{Backlog, Channel, Damage, Passage, Qdisc, QueueSink, Timestamp, Transmission};
use airpath_queue::DropTail;

use crate::link::OutsideQueue;
use crate::packet::Packet;

/// The queue of a link.
#[derive(Debug)]
pub(crate) enum Queue {
    /// Drop-tail.
    DropTail(DropTail<Packet>),
    /// Any other.
    Other(OtherQueue),
}

/// A queue behind a trait object.
#[derive(Debug)]
pub(crate) enum OtherQueue {
    /// A queue of this source tree.
    Ours(Box<dyn Qdisc<Packet>>),
    /// An external queue.
    Outside(Box<OutsideQueue>),
}

impl OtherQueue {
    fn get(&self) -> &dyn Qdisc<Packet> {
        match self {
            Self::Ours(queue) => &**queue,
            Self::Outside(queue) => &**queue,
        }
    }

    fn get_mut(&mut self) -> &mut dyn Qdisc<Packet> {
        match self {
            Self::Ours(queue) => &mut **queue,
            Self::Outside(queue) => &mut **queue,
        }
    }
}

impl Queue {
    /// Creates a queue of this source tree that is not drop-tail.
    pub(crate) fn ours(queue: Box<dyn Qdisc<Packet>>) -> Self {
        Self::Other(OtherQueue::Ours(queue))
    }

    /// Creates an external queue.
    pub(crate) fn kept_outside() -> Self {
        Self::Other(OtherQueue::Outside(Box::default()))
    }

    /// Returns the queue if it is external.
    pub(crate) fn outside(&mut self) -> Option<&mut OutsideQueue> {
        match self {
            Self::Other(OtherQueue::Outside(queue)) => Some(queue),
            _ => None,
        }
    }
}

/// The channel of a link.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all links have the large one")]
pub(crate) enum Air {
    /// Every packet arrives.
    Clear(LinkChannel<NoErrors>),
    /// Any other.
    Other(Box<dyn Channel>),
}

impl Qdisc<Packet> for Queue {
    fn enqueue(&mut self, now: Timestamp, packet: Packet, sink: &mut dyn QueueSink<Packet>) {
        match self {
            Self::DropTail(queue) => queue.enqueue(now, packet, sink),
            Self::Other(queue) => queue.get_mut().enqueue(now, packet, sink),
        }
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<Packet>) -> Option<Packet> {
        match self {
            Self::DropTail(queue) => queue.dequeue(now, sink),
            Self::Other(queue) => queue.get_mut().dequeue(now, sink),
        }
    }

    fn pass(&mut self, now: Timestamp, packet: Packet, sink: &mut dyn QueueSink<Packet>) -> Option<Packet> {
        match self {
            Self::DropTail(queue) => queue.pass(now, packet, sink),
            Self::Other(queue) => queue.get_mut().pass(now, packet, sink),
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        match self {
            Self::DropTail(queue) => Qdisc::<Packet>::backlog(queue),
            Self::Other(queue) => queue.get().backlog(),
        }
    }

    fn on_timer(&mut self, now: Timestamp, sink: &mut dyn QueueSink<Packet>) {
        match self {
            Self::DropTail(queue) => queue.on_timer(now, sink),
            Self::Other(queue) => queue.get_mut().on_timer(now, sink),
        }
    }

    #[inline]
    fn next_timer(&self) -> Timestamp {
        match self {
            Self::DropTail(queue) => Qdisc::<Packet>::next_timer(queue),
            Self::Other(queue) => queue.get().next_timer(),
        }
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        match self {
            Self::DropTail(queue) => Qdisc::<Packet>::observe(queue, report),
            Self::Other(queue) => queue.get().observe(report),
        }
    }
}

impl Channel for Air {
    #[inline]
    fn transmit(&mut self, transmission: &Transmission) -> Passage {
        match self {
            Self::Clear(channel) => channel.transmit(transmission),
            Self::Other(channel) => channel.transmit(transmission),
        }
    }

    fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        match self {
            Self::Clear(channel) => channel.offered_bits(until),
            Self::Other(channel) => channel.offered_bits(until),
        }
    }

    fn damage(&self) -> Option<Damage> {
        match self {
            Self::Clear(channel) => channel.damage(),
            Self::Other(channel) => channel.damage(),
        }
    }
}
