//! Random early detection (Floyd and Jacobson 1993), gentle and adaptive.

mod adaptation;
mod average;

use core::fmt::Debug;

use airpath_model::config::check;
use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Packet, Qdisc, QueueSink, RandomStream, Timestamp,
};

use crate::mark::mark;
use crate::{ConfigError, DropTail, Limit, QueueUnit};

use adaptation::Adaptation;
use average::Average;

/// RED's parameters. Thresholds are packets, of the mean size where bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// What the queue is counted in.
    pub unit: QueueUnit,
    /// `min_th`, the average queue from which on packets are chosen, packets, at least zero.
    pub minimum: f64,
    /// `max_th`, packets, above `minimum`.
    pub maximum: f64,
    /// `max_p`, the probability when the average reaches `maximum`, above 0 to 1; the first one if it adapts.
    pub max_probability: f64,
    /// `w_q`, the weight of the newest queue in the average, above 0 to 1.
    pub weight: f64,
    /// From `maximum` to twice it the probability grows from `max_p` to 1, instead of jumping to 1.
    pub gentle: bool,
    /// Wait between two packets that are chosen for at least 1/p others: intervals uniform on [1/p, 2/p] instead of
    /// [1, 1/p] (ns-2's `wait_`).
    pub wait: bool,
    /// `max_p` adapts, so that the average stays halfway between the thresholds (Floyd, Gummadi and Shenker 2001).
    pub adaptive: bool,
    /// Mark packets that allow it instead of dropping them.
    pub ecn: bool,
    /// The probability from which on chosen packets are dropped all the same, from 0 to 1; 1 drops only where the
    /// probability is 1 (ns-2's `mark_p_`).
    pub mark_limit: f64,
    /// Mean size of a packet, greater than zero.
    pub packet: Bytes,
    /// How long the link takes for one of them, greater than zero: the clock of an idle queue.
    pub packet_time: Duration,
}

/// RED over a drop-tail buffer.
///
/// At each arrival the average follows the queue, avg ← (1 − w) avg + w q; after an idle time as if m packets had found
/// the queue empty, m = idle time / `packet_time`. From `min_th` on a packet is chosen with probability
/// `p_b` = `max_p` (avg − `min_th`) / (`max_th` − `min_th`), spread by the count of packets since the last one chosen:
/// `p_a` = `p_b` / (1 − count `p_b`), or with `wait` `p_b` / (2 − count `p_b`) from count = 1/`p_b` on. Chosen packets are marked or
/// dropped as they arrive.
///
/// As ns-2.35 does: while at most one packet waits, none is chosen; the packet with which the average first exceeds
/// `min_th` is spared; a drop by overflow restarts the count.
///
/// Series: `average_queue_packets`, `probability` (`p_b` of the last arrival), `max_probability`.
#[derive(Debug)]
pub struct Red<P> {
    buffer: DropTail<P>,
    config: RedConfig,
    random: RandomStream,
    average: Average,
    adaptation: Adaptation,
    /// Packets that arrived since the last one chosen, the one that arrives included; `None` below `min_th`.
    count: Option<f64>,
    probability: f64,
}

impl<P> Red<P> {
    /// An empty queue with that limit. Fails when a parameter is outside the range that [`RedConfig`] states.
    pub fn new(limit: Limit, config: RedConfig, random: RandomStream) -> Result<Self, ConfigError> {
        let RedConfig { minimum, maximum, max_probability, weight, mark_limit, packet, packet_time, .. } =
            config;
        check(minimum >= 0.0 && minimum.is_finite(), "minimum", "at least zero and finite", minimum)?;
        check(maximum > minimum && maximum.is_finite(), "maximum", "above the minimum and finite", maximum)?;
        let share = |value: f64| value > 0.0 && value <= 1.0;
        check(share(max_probability), "max_probability", "above 0, at most 1", max_probability)?;
        check(share(weight), "weight", "above 0, at most 1", weight)?;
        check((0.0..=1.0).contains(&mark_limit), "mark_limit", "from 0 to 1", mark_limit)?;
        check(!packet.is_zero(), "packet", "at least one byte", 0.0)?;
        check(!packet_time.is_zero(), "packet_time", "greater than zero", 0.0)?;
        Ok(Self {
            buffer: DropTail::new(limit),
            config,
            random,
            average: Average::new(weight, packet_time),
            adaptation: Adaptation::new(minimum, maximum, max_probability),
            count: None,
            probability: 0.0,
        })
    }

    /// `p_b`: the probability for an average queue of `average`.
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

    /// `p_a`: the probability after `count` packets were spared, for a packet that counts `weight`.
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
    /// Whether the packet that arrives is chosen.
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
