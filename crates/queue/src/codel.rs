//! Controlled delay (RFC 8289).

mod control;

use core::fmt::Debug;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values};
use airpath_model::{Backlog, Bytes, DropReason, Duration, Packet, Qdisc, QueueSink, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::fifo::Fifo;
use crate::{ConfigError, Limit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

pub(crate) use control::CodelControl;

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct CodelConfig {
    /// The accepted minimum queueing delay (RFC 8289: 5 ms).
    #[cfg_attr(feature = "declare", serde(default = "target"), schemars(extend("exclusiveMinimum" = 0)))]
    pub target: Duration,
    /// Time above the target after which packets are dropped: a long round-trip time (RFC 8289: 100 ms).
    #[cfg_attr(feature = "declare", serde(default = "interval"), schemars(extend("exclusiveMinimum" = 0)))]
    pub interval: Duration,
    /// Packets are dropped only if the queue contains more bytes than this. Default: the largest packet of
    /// any flow.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "packet")))]
    pub packet: Bytes,
    /// Mark packets of flows with `ecn = true` in their `transport` instead of dropping them.
    #[cfg_attr(feature = "declare", serde(default = "ecn"))]
    pub ecn: bool,
}

#[cfg(feature = "declare")]
const fn target() -> Duration {
    Duration::from_millis(5)
}

#[cfg(feature = "declare")]
const fn interval() -> Duration {
    Duration::from_millis(100)
}

#[cfg(feature = "declare")]
const fn ecn() -> bool {
    true
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for CodelConfig {
    const ID: &'static str = "codel";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        given.entry("packet").or_insert(context.packet.get().into());
        Ok(())
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Codel::new(facts.limit, *self)?))
    }
}

impl CodelConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check(!self.target.is_zero(), "target", "greater than zero", 0.0)?;
        check(!self.interval.is_zero(), "interval", "greater than zero", 0.0)?;
        check(!self.packet.is_zero(), "packet", "greater than zero", 0.0)
    }
}

/// CoDel: if packets have waited longer than the target for a whole interval, CoDel drops a departing packet.
/// It drops further packets at intervals that shrink with the square root of their number, until the delay is
/// below the target (RFC 8289, section 5). A packet that is marked instead of dropped departs, and no other
/// packet takes its place.
///
/// Series: `sojourn_s` (of the last departed packet, seconds), `dropping` (1 or 0), `drop_count`.
#[derive(Debug)]
pub struct Codel<P> {
    limit: Limit,
    waiting: Fifo<P>,
    control: CodelControl,
}

impl<P> Codel<P> {
    /// Creates an empty queue with `limit`. Fails if a parameter is outside the range stated in
    /// [`CodelConfig`].
    pub fn new(limit: Limit, config: CodelConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { limit, waiting: Fifo::new(), control: CodelControl::new(config) })
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Codel<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        if self.limit.admits(self.waiting.backlog(), packet.size()) {
            self.waiting.push(now, packet);
        } else {
            sink.on_drop(now, packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        self.control.dequeue(now, &mut self.waiting, sink)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("sojourn_s", self.control.sojourn().as_secs_f64());
        report("dropping", f64::from(u8::from(self.control.is_dropping())));
        report("drop_count", f64::from(self.control.count()));
    }
}
