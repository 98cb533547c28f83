//! The interface of queue disciplines and router protocols.

use core::fmt::Debug;

use crate::{Bytes, Ecn, PathHeader, Timestamp};

/// The properties of a packet that a queue uses. The simulator's packet is a small value, the emulator's a
/// real buffer.
pub trait Packet {
    /// Returns the size on the wire, headers included.
    fn size(&self) -> Bytes;
    /// Returns the ECN field.
    fn ecn(&self) -> Ecn;
    /// Writes the ECN field. A queue calls this to mark.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Returns the flow, for per-flow queues: equal for packets of one flow and direction.
    fn flow(&self) -> u64;
    /// Returns whether the packet carries data (as opposed to a bare acknowledgment).
    fn is_data(&self) -> bool;
    /// Returns the congestion header, for routers that read and write it.
    fn path_header(&mut self) -> &mut PathHeader;
}

/// A queue discipline. Calls come in time order. A driver may be late, so only the given time counts.
///
/// Conservation: every packet passed to [`Qdisc::enqueue`] is later returned by [`Qdisc::dequeue`], handed to
/// the sink with its drop reason, or still counted by [`Qdisc::backlog`].
pub trait Qdisc<P: Packet>: Debug + Send {
    /// Processes an arriving packet.
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>);

    /// Returns the next packet to transmit. May drop packets first, and may return nothing although there is
    /// a backlog.
    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P>;

    /// Processes a packet that arrives while the link is free. Equivalent to [`Qdisc::enqueue`] followed by
    /// [`Qdisc::dequeue`], which disciplines may do faster if the queue is empty.
    fn pass(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) -> Option<P> {
        self.enqueue(now, packet, sink);
        self.dequeue(now, sink)
    }

    /// Returns the backlog. The packet in transmission is no longer in the queue.
    fn backlog(&self) -> Backlog;

    /// Reports that the time returned by [`Qdisc::next_timer`] has come.
    fn on_timer(&mut self, _now: Timestamp, _sink: &mut dyn QueueSink<P>) {}

    /// Returns the time of the next call of [`Qdisc::on_timer`]; [`Timestamp::NEVER`] for none.
    fn next_timer(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// Reports quantities by name for the time series (`load_factor`, `capacity_estimate`, …), in the units
    /// stated on the page of the discipline. Called once for each interval of the series; must not change
    /// anything.
    fn observe(&self, _report: &mut dyn FnMut(&'static str, f64)) {}
}

/// Receives the drops and marks of a queue.
pub trait QueueSink<P> {
    /// Reports that `packet` was dropped.
    fn on_drop(&mut self, now: Timestamp, packet: P, reason: DropReason);
    /// Reports that `packet` was marked CE and stays in the queue.
    fn on_mark(&mut self, _now: Timestamp, _packet: &P) {}
}

/// The packets that wait in a queue.
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
        /// The queue discipline dropped it although the buffer had room: active queue management, a policer.
        Early = "early",
        /// The channel corrupted it.
        Corruption = "corruption",
    }
}
