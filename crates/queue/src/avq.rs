//! Adaptive virtual queue (Kunniyur and Srikant, SIGCOMM 2001).

mod virtual_queue;

use core::fmt::Debug;

#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values, defaults};
use airpath_model::{Backlog, Bytes, DropReason, Packet, Qdisc, QueueSink, Rate, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::mark::mark;
use crate::{ConfigError, DropTail, Limit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

use virtual_queue::VirtualQueue;

/// Adaptive virtual queue (Kunniyur and Srikant 2001).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct AvqConfig {
    /// Gain with which the virtual capacity adapts (0.15).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::alpha"),
        schemars(extend("exclusiveMinimum" = 0))
    )]
    pub alpha: f64,
    /// Target utilisation (0.98).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::gamma"),
        schemars(range(max = 1), extend("exclusiveMinimum" = 0))
    )]
    pub gamma: f64,
    /// Initial virtual capacity as a share of the capacity (0.8).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::initial_share"),
        schemars(range(min = 0, max = 1))
    )]
    pub initial_share: f64,
    /// Mark packets of flows with `ecn = true` in their `transport` instead of dropping them.
    #[cfg_attr(feature = "declare", serde(default = "default::ecn"))]
    pub ecn: bool,
    /// The capacity to which the virtual capacity adapts. Default: the mean rate of the link.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "mean_rate")))]
    pub capacity: Rate,
    /// Size of the buffer of the virtual queue: the limit of the link, not a parameter.
    #[cfg_attr(feature = "declare", serde(skip))]
    pub buffer: Bytes,
}

#[cfg(feature = "declare")]
defaults! {
    alpha: f64 = 0.15;
    gamma: f64 = 0.98;
    initial_share: f64 = 0.8;
    ecn: bool = true;
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for AvqConfig {
    const ID: &'static str = "avq";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        context.capacity(given)?;
        Ok(())
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Avq::new(facts.limit, Self { buffer: facts.buffer, ..*self })?))
    }
}

/// AVQ over a drop-tail buffer.
///
/// AVQ simulates a virtual queue with a buffer of the same size and a capacity C̃ that adapts. At each
/// arrival of b bytes, s seconds after the previous arrival, it first removes the bytes that the virtual link
/// has sent since then. If the b bytes do not fit, the packet is marked or dropped; otherwise they are added.
/// Then C̃ ← max(0, min(C̃ + α γ C s, C) − α b).
///
/// Series: `virtual_capacity_bps`, `virtual_queue_bytes`.
#[derive(Debug)]
pub struct Avq<P> {
    buffer: DropTail<P>,
    virtual_queue: VirtualQueue,
    ecn: bool,
}

impl<P> Avq<P> {
    /// Creates an empty queue with `limit`. Fails if a parameter is outside the range stated in
    /// [`AvqConfig`].
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
