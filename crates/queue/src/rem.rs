//! Random exponential marking (Athuraliya, Low, Li and Yin 2001).

mod price;

use core::fmt::Debug;

use airpath_model::config::{check, check_timer};
use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Packet, Qdisc, QueueSink, RandomStream, Rate, Timestamp,
};

use crate::mark::mark;
use crate::{ConfigError, DropTail, Limit, QueueUnit};

use price::Price;

/// REM's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemConfig {
    /// What arrivals and the queue are counted in.
    pub unit: QueueUnit,
    /// The capacity that the price is reckoned with.
    pub capacity: Rate,
    /// T, the time between two prices, greater than zero.
    pub interval: Duration,
    /// γ, the gain of the price, greater than zero.
    pub gamma: f64,
    /// α, the weight of the queue against the rate, at least zero.
    pub alpha: f64,
    /// φ, the base of the probability, greater than one.
    pub phi: f64,
    /// b*, the target queue, packets, at least zero.
    pub target: f64,
    /// What happens to chosen packets.
    pub response: RemResponse,
    /// Mean size of a packet, greater than zero.
    pub packet: Bytes,
}

/// What REM does to the packets that it chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemResponse {
    /// Drop them as they arrive.
    Drop,
    /// Mark those that allow it as they leave, drop the others as they arrive.
    Mark,
    /// Mark those that allow it as they leave, let the others pass (ns-2's `markpkts_`).
    MarkOnly,
}

/// REM over a drop-tail buffer (ns-2.35 `queue/rem.cc`).
///
/// Every T: price ← max(0, price + γ (x + α (b − b*) − c T)), with x the arrivals of the interval, dropped ones included,
/// b the queue and c T what the link could send in it, all in packets. Packets are chosen with probability 1 − φ^−price;
/// where bytes are counted, times size / mean size.
///
/// Series: `price`, `probability`.
#[derive(Debug)]
pub struct Rem<P> {
    buffer: DropTail<P>,
    config: RemConfig,
    random: RandomStream,
    price: Price,
    /// Arrivals of the interval under way, packets.
    arrived: f64,
    due: Timestamp,
}

impl<P> Rem<P> {
    /// An empty queue with that limit. Fails when a parameter is outside the range that [`RemConfig`] states.
    pub fn new(limit: Limit, config: RemConfig, random: RandomStream) -> Result<Self, ConfigError> {
        let RemConfig { interval, gamma, alpha, phi, target, packet, .. } = config;
        check_timer(interval, "interval")?;
        check(gamma > 0.0 && gamma.is_finite(), "gamma", "greater than zero and finite", gamma)?;
        check(alpha >= 0.0 && alpha.is_finite(), "alpha", "at least zero and finite", alpha)?;
        check(phi > 1.0 && phi.is_finite(), "phi", "greater than one and finite", phi)?;
        check(target >= 0.0 && target.is_finite(), "target", "at least zero and finite", target)?;
        check(!packet.is_zero(), "packet", "at least one byte", 0.0)?;
        Ok(Self {
            buffer: DropTail::new(limit),
            config,
            random,
            price: Price::new(gamma, alpha, phi, target),
            arrived: 0.0,
            due: Timestamp::ZERO + interval,
        })
    }

    fn chooses(&mut self, size: Bytes) -> bool {
        let weight = self.config.unit.weight(size, self.config.packet);
        self.random.chance(self.price.probability() * weight)
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Rem<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        let size = packet.size();
        self.arrived += self.config.unit.weight(size, self.config.packet);
        let droppable = match self.config.response {
            RemResponse::Drop => true,
            RemResponse::Mark => !packet.ecn().is_capable(),
            RemResponse::MarkOnly => false,
        };
        if droppable && self.buffer.has_room(size) && self.chooses(size) {
            sink.on_drop(now, packet, DropReason::Early);
        } else {
            self.buffer.enqueue(now, packet, sink);
        }
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        let mut packet = self.buffer.dequeue(now, sink)?;
        if self.config.response != RemResponse::Drop
            && packet.ecn().is_capable()
            && self.chooses(packet.size())
        {
            mark(now, &mut packet, sink);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.buffer.backlog()
    }

    fn on_timer(&mut self, now: Timestamp, _sink: &mut dyn QueueSink<P>) {
        let RemConfig { unit, capacity, interval, packet, .. } = self.config;
        let queue = unit.packets(self.buffer.backlog(), packet);
        let carried = capacity.bytes_per_second() * interval.as_secs_f64() / packet.as_f64();
        self.price.update(core::mem::take(&mut self.arrived), queue, carried);
        self.due = now + interval;
    }

    fn next_timer(&self) -> Timestamp {
        self.due
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("price", self.price.value());
        report("probability", self.price.probability());
    }
}
