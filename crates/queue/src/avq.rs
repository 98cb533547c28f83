//! Adaptive virtual queue (Kunniyur and Srikant, SIGCOMM 2001).

mod virtual_queue;

use core::fmt::Debug;

use airpath_model::{Backlog, Bytes, DropReason, Packet, Qdisc, QueueSink, Rate, Timestamp};

use crate::mark::mark;
use crate::{ConfigError, DropTail, Limit};

use virtual_queue::VirtualQueue;

/// AVQ's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AvqConfig {
    /// C, the capacity of the link, greater than zero.
    pub capacity: Rate,
    /// Size of the virtual queue's buffer.
    pub buffer: Bytes,
    /// α, how fast the virtual capacity adapts, greater than zero.
    pub alpha: f64,
    /// γ, the utilisation that is wanted, above 0 to 1.
    pub gamma: f64,
    /// The first virtual capacity as a share of the capacity, from 0 to 1.
    pub initial_share: f64,
    /// Mark packets that allow it instead of dropping them.
    pub ecn: bool,
}

/// AVQ over a drop-tail buffer.
///
/// Beside the queue runs a virtual one with a buffer of the same size and a capacity C̃ that adapts: at each arrival of b
/// bytes, s after the one before, what the virtual link has sent since is taken off; if the b bytes do not fit, the
/// packet is marked or dropped, else they join; then C̃ ← max(0, min(C̃ + α γ C s, C) − α b).
///
/// Series: `virtual_capacity_bps`, `virtual_queue_bytes`.
#[derive(Debug)]
pub struct Avq<P> {
    buffer: DropTail<P>,
    virtual_queue: VirtualQueue,
    ecn: bool,
}

impl<P> Avq<P> {
    /// An empty queue with that limit. Fails when a parameter is outside the range that [`AvqConfig`] states.
    pub fn new(limit: Limit, config: AvqConfig) -> Result<Self, ConfigError> {
        Ok(Self { buffer: DropTail::new(limit), virtual_queue: VirtualQueue::new(&config)?, ecn: config.ecn })
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Avq<P> {
    fn enqueue(&mut self, now: Timestamp, mut packet: P, sink: &mut dyn QueueSink<P>) {
        let size = packet.size();
        let overflows = self.virtual_queue.on_arrival(now, size);
        if overflows && self.buffer.has_room(size) && !(self.ecn && mark(now, &mut packet, sink)) {
            sink.on_drop(now, packet, DropReason::Early);
        } else {
            self.buffer.enqueue(now, packet, sink);
        }
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        self.buffer.dequeue(now, sink)
    }

    fn backlog(&self) -> Backlog {
        self.buffer.backlog()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("virtual_capacity_bps", self.virtual_queue.capacity() * 8.0);
        report("virtual_queue_bytes", self.virtual_queue.bytes());
    }
}
