//! Random exponential marking (Athuraliya, Low, Li and Yin 2001).

mod price;

use core::fmt::Debug;

use airpath_model::config::{check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values, defaults};
use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Packet, Qdisc, QueueSink, RandomStream, Rate, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::mark::mark;
use crate::{ConfigError, DropTail, Limit, QueueUnit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

use price::Price;

/// Random exponential marking (Athuraliya et al. 2001) as in ns-2.35.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct RemConfig {
    /// Unit of arrivals and queue: `packets` of any size, acknowledgments included (ns-2.35),
    /// or `bytes`.
    #[cfg_attr(feature = "declare", serde(default = "default::unit"))]
    pub unit: QueueUnit,
    /// T: time between two updates of the price (ns-2.35: 2 ms).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::interval"),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000))
    )]
    pub interval: Duration,
    /// Gain of the price (0.001).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::gamma"),
        schemars(extend("exclusiveMinimum" = 0))
    )]
    pub gamma: f64,
    /// Weight of the queue against the rate (0.1).
    #[cfg_attr(feature = "declare", serde(default = "default::alpha"), schemars(range(min = 0)))]
    pub alpha: f64,
    /// Base of the probability (1.001).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::phi"),
        schemars(extend("exclusiveMinimum" = 1))
    )]
    pub phi: f64,
    /// b*: the target queue (ns-2.35: 20 packets).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::target"),
        schemars(range(min = 0), extend("x-unit" = "threshold"))
    )]
    pub target: f64,
    /// Mark packets of flows with `ecn = true` in their `transport` at departure, instead of dropping them at
    /// arrival.
    #[cfg_attr(feature = "declare", serde(default = "default::ecn"))]
    pub ecn: bool,
    /// Treatment of chosen packets that cannot be marked, with `ecn`: `drop` (RFC 3168), or `pass` as in
    /// ns-2.35.
    #[cfg_attr(feature = "declare", serde(default = "default::unmarkable"))]
    pub unmarkable: Unmarkable,
    /// Mean size of a packet. Default: the largest packet that any flow sends.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "packet")))]
    pub packet: Bytes,
    /// The capacity in the formula of the price. Default: the mean rate of the link.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "mean_rate")))]
    pub capacity: Rate,
}

#[cfg(feature = "declare")]
defaults! {
    unit: QueueUnit = QueueUnit::Packets;
    interval: Duration = Duration::from_millis(2);
    gamma: f64 = 0.001;
    alpha: f64 = 0.1;
    phi: f64 = 1.001;
    target: f64 = 20.0;
    ecn: bool = true;
    unmarkable: Unmarkable = Unmarkable::Drop;
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for RemConfig {
    const ID: &'static str = "rem";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        context.capacity(given)?;
        given.entry("packet").or_insert(context.packet.get().into());
        Ok(())
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Rem::new(facts.limit, *self, facts.random)?))
    }
}

/// REM's treatment of chosen packets that cannot be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum Unmarkable {
    /// Drop them at arrival (RFC 3168).
    Drop,
    /// Let them pass (ns-2's `markpkts_`).
    Pass,
}

/// REM over a drop-tail buffer (ns-2.35 `queue/rem.cc`).
///
/// Every T: price ← max(0, price + γ (x + α (b − b*) − c T)), with x the arrivals of the interval including
/// dropped ones, b the queue, and c T the amount that the link could send in it, all in packets. Packets are
/// chosen with probability 1 − φ^−price, times size / mean size if bytes are counted.
///
/// Series: `price`, `probability`.
#[derive(Debug)]
pub struct Rem<P> {
    buffer: DropTail<P>,
    config: RemConfig,
    random: RandomStream,
    price: Price,
    /// Arrivals of the current interval, in packets.
    arrived: f64,
    due: Timestamp,
}

impl<P> Rem<P> {
    /// Creates an empty queue with `limit`. Fails if a parameter is outside the range stated in
    /// [`RemConfig`].
    pub fn new(limit: Limit, config: RemConfig, random: RandomStream) -> Result<Self, ConfigError> {
        let RemConfig { interval, gamma, alpha, phi, target, packet, capacity, .. } = config;
        check_timer(interval, "interval")?;
        check(gamma > 0.0 && gamma.is_finite(), "gamma", "greater than zero and finite", gamma)?;
        check(alpha >= 0.0 && alpha.is_finite(), "alpha", "at least zero and finite", alpha)?;
        check(phi > 1.0 && phi.is_finite(), "phi", "greater than one and finite", phi)?;
        check(target >= 0.0 && target.is_finite(), "target", "at least zero and finite", target)?;
        check(!packet.is_zero(), "packet", "at least one byte", 0.0)?;
        check(capacity > Rate::ZERO, "capacity", "greater than zero", 0.0)?;
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
        let RemConfig { ecn, unmarkable, .. } = self.config;
        let droppable = !ecn || unmarkable == Unmarkable::Drop && !packet.ecn().is_capable();
        if droppable && self.buffer.has_room(size) && self.chooses(size) {
            sink.on_drop(now, packet, DropReason::Early);
        } else {
            self.buffer.enqueue(now, packet, sink);
        }
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        let mut packet = self.buffer.dequeue(now, sink)?;
        if self.config.ecn && packet.ecn().is_capable() && self.chooses(packet.size()) {
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
