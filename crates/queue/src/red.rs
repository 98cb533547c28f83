//! Random early detection (Floyd and Jacobson 1993), gentle and adaptive.

mod adaptation;
mod average;

use core::fmt::Debug;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Value, Values, defaults};
use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Packet, Qdisc, QueueSink, RandomStream, Rate, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::mark::mark;
use crate::{ConfigError, DropTail, Limit, QueueUnit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

use adaptation::Adaptation;
use average::Average;

/// Random early detection (Floyd and Jacobson 1993), gentle or not, adaptive or not (Floyd et al.).
///
/// Thresholds are in packets, of the mean size if bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct RedConfig {
    /// Unit of the queue: `packets` of any size, or `bytes`, with which small packets are chosen less often.
    #[cfg_attr(feature = "declare", serde(default = "default::unit"))]
    pub unit: QueueUnit,
    /// min_th: average queue above which packets are chosen. Default: half of 5 ms at the mean rate, at least
    /// 5 packets (ns-2.35; Floyd et al. 2001).
    #[cfg_attr(
        feature = "declare",
        schemars(
            range(min = 0),
            extend("x-unit" = "threshold", "x-less-than" = "maximum", "x-default-from" = "capacity")
        )
    )]
    pub minimum: f64,
    /// max_th: average queue at which the probability is `max_probability`. Default: three times `minimum`.
    #[cfg_attr(
        feature = "declare",
        schemars(extend("exclusiveMinimum" = 0, "x-unit" = "threshold", "x-default-from" = "minimum"))
    )]
    pub maximum: f64,
    /// max_p: probability at `maximum`; the initial one if it adapts.
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::max_probability"),
        schemars(range(max = 1), extend("exclusiveMinimum" = 0))
    )]
    pub max_probability: f64,
    /// w_q: weight of the newest queue in the average. Default: 0.002 (Floyd and Jacobson 1993); if adaptive,
    /// 1 - exp(-1/C) with C the mean rate in packets per second (Floyd et al. 2001).
    #[cfg_attr(
        feature = "declare",
        schemars(range(max = 1), extend("exclusiveMinimum" = 0, "x-default-from" = "adaptive"))
    )]
    pub weight: f64,
    /// Increase the probability from `max_probability` to 1 between `maximum` and twice `maximum`, instead of
    /// jumping to 1.
    #[cfg_attr(feature = "declare", serde(default = "default::gentle"))]
    pub gentle: bool,
    /// Spare at least 1/p packets between two chosen packets, as in ns-2; `false` is the paper's rule.
    #[cfg_attr(feature = "declare", serde(default = "default::wait"))]
    pub wait: bool,
    /// Adapt `max_probability`, so that the average stays halfway between the thresholds.
    #[cfg_attr(feature = "declare", serde(default = "default::adaptive"))]
    pub adaptive: bool,
    /// Mark packets of flows with `ecn = true` in their `transport` instead of dropping them.
    #[cfg_attr(feature = "declare", serde(default = "default::ecn"))]
    pub ecn: bool,
    /// Probability at and above which packets are dropped instead of marked (ns-2.35: 0.1); 1 always marks.
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::mark_limit"),
        schemars(range(min = 0, max = 1))
    )]
    pub mark_limit: f64,
    /// Mean size of a packet. Default: the largest packet that any flow sends.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "packet")))]
    pub packet: Bytes,
    /// The rate at which an idle queue is assumed to have sent. Default: the mean rate of the link.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "mean_rate")))]
    pub capacity: Rate,
}

#[cfg(feature = "declare")]
defaults! {
    unit: QueueUnit = QueueUnit::Packets;
    max_probability: f64 = 0.1;
    gentle: bool = true;
    wait: bool = true;
    adaptive: bool = false;
    ecn: bool = true;
    mark_limit: f64 = 0.1;
}

/// The weight that Floyd and Jacobson (1993) recommend.
#[cfg(feature = "declare")]
const WEIGHT: f64 = 0.002;
/// Smallest default of `minimum`, in packets (Floyd et al. 2001, section 4; ns-2.35).
#[cfg(feature = "declare")]
const LEAST_MINIMUM: f64 = 5.0;
/// Queueing delay from which the default of `minimum` is computed, in seconds (same sources).
#[cfg(feature = "declare")]
const TARGET_DELAY: f64 = 0.005;

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for RedConfig {
    const ID: &'static str = "red";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        let capacity = context.capacity(given)?;
        let packet = given.entry("packet").or_insert(context.packet.get().into()).as_u64().unwrap_or(0);
        let packets_per_second = packets_per_second(Rate::from_bps(capacity), Bytes::new(packet));
        let minimum = LEAST_MINIMUM.max(TARGET_DELAY * packets_per_second / 2.0);
        let minimum = given.entry("minimum").or_insert(minimum.into()).as_f64().unwrap_or(0.0);
        given.entry("maximum").or_insert((3.0 * minimum).into());
        let adaptive = given.get("adaptive").and_then(Value::as_bool).unwrap_or(false);
        let weight = if adaptive { 1.0 - libm::exp(-1.0 / packets_per_second) } else { WEIGHT };
        given.entry("weight").or_insert(weight.into());
        Ok(())
    }

    fn check(&self) -> Result<(), ComponentError> {
        if self.maximum > self.minimum {
            return Ok(());
        }
        let problem = "is {maximum} packets, which is not above the minimum of {minimum} packets";
        Err(ComponentError::new("maximum", problem))
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(Red::new(facts.limit, *self, facts.random)?))
    }
}

fn packets_per_second(capacity: Rate, packet: Bytes) -> f64 {
    capacity.bytes_per_second() / packet.as_f64()
}

impl RedConfig {
    /// Returns the transmission time of a packet of the mean size, which is the clock of an idle queue.
    fn packet_time(&self) -> Duration {
        let nanoseconds = libm::rint(1e9 / packets_per_second(self.capacity, self.packet)).max(1.0);
        Duration::from_nanos(nanoseconds as u64)
    }
}

/// RED over a drop-tail buffer.
///
/// At each arrival the average follows the queue, avg ← (1 − w) avg + w q; after an idle time as if m packets
/// had found the queue empty, m = idle time / `packet_time`. From `min_th` on a packet is chosen with
/// probability `p_b` = `max_p` (avg − `min_th`) / (`max_th` − `min_th`), spread by the count of packets since
/// the last chosen one: `p_a` = `p_b` / (1 − count `p_b`), or with `wait` `p_b` / (2 − count `p_b`) from
/// count = 1/`p_b` on. Chosen packets are marked or dropped at arrival.
///
/// As in ns-2.35, no packet is chosen while at most one packet waits; the packet with which the average first
/// exceeds `min_th` is spared; and a drop by overflow restarts the count.
///
/// Series: `average_queue_packets`, `probability` (`p_b` of the last arrival), `max_probability`.
#[derive(Debug)]
pub struct Red<P> {
    buffer: DropTail<P>,
    config: RedConfig,
    random: RandomStream,
    average: Average,
    adaptation: Adaptation,
    /// Number of packets that arrived since the last chosen one, including the current packet; `None` below
    /// `min_th`.
    count: Option<f64>,
    probability: f64,
}

impl<P> Red<P> {
    /// Creates an empty queue with `limit`. Fails if a parameter is outside the range stated in
    /// [`RedConfig`].
    pub fn new(limit: Limit, config: RedConfig, random: RandomStream) -> Result<Self, ConfigError> {
        let RedConfig { minimum, maximum, max_probability, weight, mark_limit, packet, capacity, .. } =
            config;
        check(minimum >= 0.0 && minimum.is_finite(), "minimum", "at least zero and finite", minimum)?;
        check(maximum > minimum && maximum.is_finite(), "maximum", "above the minimum and finite", maximum)?;
        let share = |value: f64| value > 0.0 && value <= 1.0;
        check(share(max_probability), "max_probability", "above 0, at most 1", max_probability)?;
        check(share(weight), "weight", "above 0, at most 1", weight)?;
        check((0.0..=1.0).contains(&mark_limit), "mark_limit", "from 0 to 1", mark_limit)?;
        check(!packet.is_zero(), "packet", "at least one byte", 0.0)?;
        check(capacity > Rate::ZERO, "capacity", "greater than zero", 0.0)?;
        Ok(Self {
            buffer: DropTail::new(limit),
            config,
            random,
            average: Average::new(weight, config.packet_time()),
            adaptation: Adaptation::new(minimum, maximum, max_probability),
            count: None,
            probability: 0.0,
        })
    }

    /// Returns `p_b`: the probability for an average queue of `average`.
    fn base_probability(&self, average: f64) -> f64 {
        let RedConfig { minimum, maximum, gentle, .. } = self.config;
        let max_p = self.adaptation.max_probability();
        if average < maximum {
            max_p * (average - minimum) / (maximum - minimum)
        } else if gentle {
            (max_p + (1.0 - max_p) * (average - maximum) / maximum).min(1.0)
        } else {
            1.0
        }
    }

    /// Returns `p_a`: the probability after `count` packets were spared, for a packet that counts `weight`.
    fn spread(&self, base: f64, count: f64, weight: f64) -> f64 {
        let chance = count * base;
        let spread = match (self.config.wait, chance) {
            (true, chance) if chance < 1.0 => 0.0,
            (true, chance) if chance < 2.0 => base / (2.0 - chance),
            (false, chance) if chance < 1.0 => base / (1.0 - chance),
            _ => return 1.0,
        };
        (spread * weight).min(1.0)
    }
}

impl<P: Packet + Debug + Send> Red<P> {
    /// Returns whether the arriving packet is chosen.
    fn chooses(&mut self, size: Bytes) -> bool {
        let RedConfig { unit, minimum, packet, .. } = self.config;
        let average = self.average.queue();
        if average < minimum || unit.packets(self.buffer.backlog(), packet) <= 1.0 {
            self.count = None;
            self.probability = 0.0;
            return false;
        }
        let weight = unit.weight(size, packet);
        let Some(count) = &mut self.count else {
            self.count = Some(weight);
            return false;
        };
        *count += weight;
        let count = *count;
        self.probability = self.base_probability(average);
        let chosen = self.random.chance(self.spread(self.probability, count, weight));
        if chosen {
            self.count = Some(0.0);
        }
        chosen
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Red<P> {
    fn enqueue(&mut self, now: Timestamp, mut packet: P, sink: &mut dyn QueueSink<P>) {
        let size = packet.size();
        let queue = self.config.unit.packets(self.buffer.backlog(), self.config.packet);
        self.average.on_arrival(now, queue);
        if self.config.adaptive {
            self.adaptation.on_arrival(now, self.average.queue());
        }
        if !self.buffer.has_room(size) {
            self.count = self.count.map(|_| 0.0);
            sink.on_drop(now, packet, DropReason::Overflow);
            return;
        }
        if self.chooses(size) {
            let marks = self.config.ecn && self.probability < self.config.mark_limit;
            if !(marks && mark(now, &mut packet, sink)) {
                sink.on_drop(now, packet, DropReason::Early);
                return;
            }
        }
        self.buffer.enqueue(now, packet, sink);
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        let packet = self.buffer.dequeue(now, sink);
        if packet.is_none() {
            self.average.on_idle(now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.buffer.backlog()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("average_queue_packets", self.average.queue());
        report("probability", self.probability);
        report("max_probability", self.adaptation.max_probability());
    }
}
