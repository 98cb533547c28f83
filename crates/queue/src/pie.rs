//! Proportional integral controller enhanced (RFC 8033).

mod departure_rate;
mod probability;

use core::fmt::Debug;

use airpath_model::config::{check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values, defaults};
use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Packet, Qdisc, QueueSink, RandomStream, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::fifo::Fifo;
use crate::mark::mark;
use crate::{ConfigError, Limit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

use departure_rate::DepartureRate;
use probability::DropProbability;

/// Probability below which no packet is dropped while the delay is below half of the target (RFC 8033,
/// section 4.1).
const SAFE_PROBABILITY: f64 = 0.2;
/// Sums of probabilities between which a packet is chosen at random (RFC 8033, section 5.4): below the first,
/// no packet is chosen; from the second on, the next packet is.
const DERANDOMISED: (f64, f64) = (0.85, 8.5);

/// Proportional integral controller enhanced (RFC 8033).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct PieConfig {
    /// QDELAY_REF: target delay (RFC 8033: 15 ms).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::target"),
        schemars(extend("exclusiveMinimum" = 0))
    )]
    pub target: Duration,
    /// T_UPDATE: time between two updates of the probability (RFC 8033: 15 ms).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::update_interval"),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000))
    )]
    pub update_interval: Duration,
    /// Gain for the distance of the delay from the target, per second (RFC 8033: 0.125).
    #[cfg_attr(feature = "declare", serde(default = "default::alpha"), schemars(range(min = 0)))]
    pub alpha: f64,
    /// Gain for the change of the delay, per second (RFC 8033: 1.25).
    #[cfg_attr(feature = "declare", serde(default = "default::beta"), schemars(range(min = 0)))]
    pub beta: f64,
    /// MAX_BURST: time after idleness during which no packet is dropped (RFC 8033: 150 ms).
    #[cfg_attr(feature = "declare", serde(default = "default::max_burst"))]
    pub max_burst: Duration,
    /// Source of the delay: the waiting time of the packet at the head (`timestamps`), or the queue divided
    /// by the rate at which it drains (`departure-rate`).
    #[cfg_attr(feature = "declare", serde(default = "default::delay"))]
    pub delay: PieDelay,
    /// Spread drops evenly (RFC 8033, section 5.4).
    #[cfg_attr(feature = "declare", serde(default = "default::derandomise"))]
    pub derandomise: bool,
    /// Mark packets of flows with `ecn = true` in their `transport` instead of dropping them.
    #[cfg_attr(feature = "declare", serde(default = "default::ecn"))]
    pub ecn: bool,
    /// Probability above which packets are dropped instead of marked (RFC 8033: 0.1).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::mark_limit"),
        schemars(range(min = 0, max = 1))
    )]
    pub mark_limit: f64,
    /// Mean size of a packet; with at most two packets in the queue, none is dropped. Default: the largest
    /// packet that any flow sends.
    #[cfg_attr(feature = "declare", schemars(extend("x-default-from" = "packet")))]
    pub packet: Bytes,
}

#[cfg(feature = "declare")]
defaults! {
    target: Duration = Duration::from_millis(15);
    update_interval: Duration = Duration::from_millis(15);
    alpha: f64 = 0.125;
    beta: f64 = 1.25;
    max_burst: Duration = Duration::from_millis(150);
    delay: PieDelay = PieDelay::Timestamps;
    derandomise: bool = true;
    ecn: bool = true;
    mark_limit: f64 = 0.1;
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for PieConfig {
    const ID: &'static str = "pie";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        given.entry("packet").or_insert(context.packet.get().into());
        Ok(())
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Pie::new(facts.limit, *self, facts.random)?))
    }
}

/// The method by which PIE measures the delay of its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum PieDelay {
    /// The waiting time of the packet at the head.
    Timestamps,
    /// The queue divided by the measured rate at which it drains (RFC 8033, section 4.3).
    DepartureRate,
}

/// PIE: every `T_UPDATE` the drop probability grows with the distance of the delay from its target and with
/// the change of the delay, in steps scaled to the probability. Packets are chosen with this probability at
/// arrival.
///
/// Series: `probability`, `queue_delay_s` (seconds, at the last update), `burst_allowance_s`.
#[derive(Debug)]
pub struct Pie<P> {
    limit: Limit,
    waiting: Fifo<P>,
    config: PieConfig,
    random: RandomStream,
    probability: DropProbability,
    departures: DepartureRate,
    burst_allowance: Duration,
    /// The sum of probabilities since the last chosen packet.
    accumulated: f64,
    due: Timestamp,
}

impl<P> Pie<P> {
    /// Creates an empty queue with `limit`. Fails if a parameter is outside the range stated in
    /// [`PieConfig`].
    pub fn new(limit: Limit, config: PieConfig, random: RandomStream) -> Result<Self, ConfigError> {
        let PieConfig { target, update_interval, alpha, beta, max_burst, mark_limit, .. } = config;
        check(!target.is_zero(), "target", "greater than zero", 0.0)?;
        check_timer(update_interval, "update_interval")?;
        check(alpha >= 0.0 && alpha.is_finite(), "alpha", "at least zero and finite", alpha)?;
        check(beta >= 0.0 && beta.is_finite(), "beta", "at least zero and finite", beta)?;
        check((0.0..=1.0).contains(&mark_limit), "mark_limit", "from 0 to 1", mark_limit)?;
        Ok(Self {
            limit,
            waiting: Fifo::new(),
            config,
            random,
            probability: DropProbability::new(target, alpha, beta),
            departures: DepartureRate::new(),
            burst_allowance: max_burst,
            accumulated: 0.0,
            due: Timestamp::ZERO + update_interval,
        })
    }

    fn delay(&self, now: Timestamp) -> Duration {
        match self.config.delay {
            PieDelay::Timestamps => self.waiting.delay(now),
            PieDelay::DepartureRate => self.departures.delay(self.waiting.backlog().bytes),
        }
    }

    /// Returns whether the arriving packet is chosen.
    fn chooses(&mut self) -> bool {
        let probability = self.probability.value();
        if !self.burst_allowance.is_zero()
            || (self.probability.is_below_half_of_target() && probability < SAFE_PROBABILITY)
            || self.waiting.backlog().bytes <= self.config.packet * 2
        {
            return false;
        }
        if self.config.derandomise {
            self.accumulated = if probability > 0.0 { self.accumulated + probability } else { 0.0 };
            if self.accumulated < DERANDOMISED.0 {
                return false;
            }
        }
        let overdue = self.config.derandomise && self.accumulated >= DERANDOMISED.1;
        let chosen = overdue || self.random.chance(probability);
        if chosen {
            self.accumulated = 0.0;
        }
        chosen
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Pie<P> {
    fn enqueue(&mut self, now: Timestamp, mut packet: P, sink: &mut dyn QueueSink<P>) {
        if !self.limit.admits(self.waiting.backlog(), packet.size()) {
            self.accumulated = 0.0;
            sink.on_drop(now, packet, DropReason::Overflow);
            return;
        }
        if self.chooses() {
            let marks = self.config.ecn && self.probability.value() <= self.config.mark_limit;
            if !(marks && mark(now, &mut packet, sink)) {
                sink.on_drop(now, packet, DropReason::Early);
                return;
            }
        }
        self.waiting.push(now, packet);
    }

    fn dequeue(&mut self, now: Timestamp, _sink: &mut dyn QueueSink<P>) -> Option<P> {
        let before = self.waiting.backlog().bytes;
        let (_, packet) = self.waiting.pop()?;
        self.departures.on_departure(now, before, packet.size());
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn on_timer(&mut self, now: Timestamp, _sink: &mut dyn QueueSink<P>) {
        let rested = self.probability.update(self.delay(now));
        self.burst_allowance = if rested {
            self.config.max_burst
        } else {
            let update = self.config.update_interval.min(self.burst_allowance);
            self.burst_allowance - update
        };
        self.due = now + self.config.update_interval;
    }

    fn next_timer(&self) -> Timestamp {
        self.due
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("probability", self.probability.value());
        report("queue_delay_s", self.probability.delay());
        report("burst_allowance_s", self.burst_allowance.as_secs_f64());
    }
}
