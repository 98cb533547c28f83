//! Controlled delay (RFC 8289).

mod control;

use core::fmt::Debug;

use airpath_model::config::check;
use airpath_model::{Backlog, Bytes, DropReason, Duration, Packet, Qdisc, QueueSink, Timestamp};

use crate::fifo::Fifo;
use crate::{ConfigError, Limit};

pub(crate) use control::CodelControl;

/// CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelConfig {
    /// The delay that may stand, greater than zero.
    pub target: Duration,
    /// How long it may stand above the target, greater than zero: a round-trip time that is long for the traffic.
    pub interval: Duration,
    /// Largest packet: while no more than one waits, none is dropped.
    pub packet: Bytes,
    /// Mark packets that allow it instead of dropping them.
    pub ecn: bool,
}

impl CodelConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check(!self.target.is_zero(), "target", "greater than zero", 0.0)?;
        check(!self.interval.is_zero(), "interval", "greater than zero", 0.0)
    }
}

/// CoDel: once packets have waited for longer than the target throughout an interval, one that leaves is dropped, and
/// others after it at intervals that shrink with the square root of their number, until the delay is below the target
/// (RFC 8289, section 5). A packet that is marked instead leaves, and no other takes its place.
///
/// Series: `sojourn_s` (of the packet that left last, seconds), `dropping` (1 or 0), `drop_count`.
#[derive(Debug)]
pub struct Codel<P> {
    limit: Limit,
    waiting: Fifo<P>,
    control: CodelControl,
}

impl<P> Codel<P> {
    /// An empty queue with that limit. Fails when a parameter is outside the range that [`CodelConfig`] states.
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
