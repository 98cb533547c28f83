//! The door to queue disciplines and router protocols.

use core::fmt::Debug;

use crate::{Bytes, Ecn, PathHeader, Timestamp};

/// What a queue must know of a packet. The simulator's packet is a small value, the emulator's a real buffer.
pub trait Packet {
    /// Its size on the wire, headers included.
    fn size(&self) -> Bytes;
    /// Its ECN field.
    fn ecn(&self) -> Ecn;
    /// Writes the ECN field. A queue calls this to mark.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Which flow it belongs to: equal for packets of one flow and direction, for per-flow queues.
    fn flow(&self) -> u64;
    /// Whether it carries data (as opposed to a bare acknowledgment).
    fn is_data(&self) -> bool;
    /// Its congestion header, for routers that read and write it.
    fn path_header(&mut self) -> &mut PathHeader;
}

/// A queue discipline. Calls come in time order; a driver may be late, so only the time given counts.
///
/// Conservation: every packet given to [`Qdisc::enqueue`] is later returned by [`Qdisc::dequeue`], or handed to
/// the sink with its reason, or still counted by [`Qdisc::backlog`].
pub trait Qdisc<P: Packet>: Debug + Send {
    /// A packet arrives.
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>);

    /// The link can take a packet. May drop some first, and may return nothing although there is backlog.
    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P>;

    /// A packet arrives while the link is free: the same as [`Qdisc::enqueue`] and then [`Qdisc::dequeue`], which
    /// disciplines may do faster when nothing waits.
    fn pass(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) -> Option<P> {
        self.enqueue(now, packet, sink);
        self.dequeue(now, sink)
    }

    /// What waits. The packet being sent is no longer in the queue.
    fn backlog(&self) -> Backlog;

    /// The time asked for by [`Qdisc::next_timer`] has come.
    fn on_timer(&mut self, _now: Timestamp, _sink: &mut dyn QueueSink<P>) {}

    /// When [`Qdisc::on_timer`] is wanted; [`Timestamp::NEVER`] when not.
    fn next_timer(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// Reports quantities by name for the time series (`load_factor`, `capacity_estimate`, …), in the units that the
    /// page of the discipline states. Asked once for each interval of the series; must not change anything.
    fn observe(&self, _report: &mut dyn FnMut(&'static str, f64)) {}
}

/// Where queues report what they did to packets.
pub trait QueueSink<P> {
    /// `packet` was dropped.
    fn on_drop(&mut self, now: Timestamp, packet: P, reason: DropReason);
    /// `packet` was marked CE and goes on.
    fn on_mark(&mut self, _now: Timestamp, _packet: &P) {}
}

/// What waits in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Bytes on the wire.
    pub bytes: Bytes,
    /// Packets.
    pub packets: u64,
}

codes! {
    /// Why a packet was lost.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum DropReason {
        /// The buffer was full.
        Overflow = "overflow",
        /// An active queue management chose it before the buffer was full.
        Early = "early",
        /// It was damaged on the link.
        Corruption = "corruption",
    }
}
