//! Dual-queue coupled AQM with PI2 (RFC 9332, appendix A).

mod base_probability;

use core::fmt::Debug;

use airpath_model::config::{check, check_timer};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values, defaults};
use airpath_model::{
    Backlog, Bytes, DropReason, Duration, Ecn, Packet, Qdisc, QueueSink, RandomStream, Timestamp,
};

#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::fifo::Fifo;
use crate::lanes::Lanes;
use crate::mark::mark;
use crate::{ConfigError, Limit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

use base_probability::BaseProbability;

/// Dual-queue coupled AQM (RFC 9332, appendix A), with the defaults of Linux.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct DualPi2Config {
    /// Target delay of the classic queue (15 ms).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::target"),
        schemars(extend("exclusiveMinimum" = 0))
    )]
    pub target: Duration,
    /// Tupdate: time between two updates of the probability (16 ms).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::update_interval"),
        schemars(extend("exclusiveMinimum" = 0, "minimum" = 1000))
    )]
    pub update_interval: Duration,
    /// Integral gain, Hz (0.16).
    #[cfg_attr(feature = "declare", serde(default = "default::alpha"), schemars(range(min = 0)))]
    pub alpha: f64,
    /// Proportional gain, Hz (3.2).
    #[cfg_attr(feature = "declare", serde(default = "default::beta"), schemars(range(min = 0)))]
    pub beta: f64,
    /// k: ratio of the marking probability of the low-latency queue to p' (2). The probability of classic
    /// packets is the square of p'.
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::coupling"),
        schemars(extend("exclusiveMinimum" = 0))
    )]
    pub coupling: f64,
    /// The delay above which every packet of the low-latency queue is marked (1 ms).
    #[cfg_attr(feature = "declare", serde(default = "default::step"))]
    pub step: Duration,
    /// Minimum share of the link for the classic queue while both queues are busy (0.1).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::classic_share"),
        schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))
    )]
    pub classic_share: f64,
    /// Packet size: with fewer than two packets in the queue, none is chosen. Default: the largest packet of
    /// any flow.
    #[cfg_attr(feature = "declare", schemars(extend("x-default-from" = "packet")))]
    pub packet: Bytes,
}

#[cfg(feature = "declare")]
defaults! {
    target: Duration = Duration::from_millis(15);
    update_interval: Duration = Duration::from_millis(16);
    alpha: f64 = 0.16;
    beta: f64 = 3.2;
    coupling: f64 = 2.0;
    step: Duration = Duration::from_millis(1);
    classic_share: f64 = 0.1;
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for DualPi2Config {
    const ID: &'static str = "dual-pi2";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        given.entry("packet").or_insert(context.packet.get().into());
        Ok(())
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(DualPi2::new(facts.limit, *self, facts.random)?))
    }
}

/// Indices of the queues.
const LOW_LATENCY: usize = 0;
const CLASSIC: usize = 1;

/// DualPI2: packets whose ECN field is ECT(1) or CE have a separate low-latency queue, which is served before
/// the classic one.
///
/// Every `Tupdate` p' ← p' + α (delay − target) + β (delay − previous delay), between 0 and 1, with the
/// longer of the delays of the two queues. Classic packets are chosen with probability p'², and marked or
/// dropped. Low-latency packets are marked with probability k p', and always if they have waited longer than
/// the step. If k p' or p' is at least 1, the link is overloaded: chosen classic packets are dropped, and
/// low-latency packets are also dropped with the classic probability. Packets are marked and dropped at
/// departure. The low-latency queue is served first, except for the share of the classic queue.
///
/// Where RFC 9332 allows a choice, this implementation follows Linux (`sch_dualpi2`): weighted round robin by
/// credit, the step applied to the sojourn time of the packet itself, and no drop while less than two full
/// packets wait behind the packet.
///
/// Series: `base_probability` (p'), `classic_delay_s`, `low_latency_delay_s` (seconds, at the last update).
#[derive(Debug)]
pub struct DualPi2<P> {
    limit: Limit,
    config: DualPi2Config,
    lanes: Lanes<P>,
    random: RandomStream,
    base: BaseProbability,
    /// Weighted excess of the bytes served from the low-latency queue; it is the turn of the classic queue
    /// while this is above zero.
    credit: f64,
    /// Delays at the last update.
    delays: [Duration; 2],
    due: Timestamp,
}

impl<P> DualPi2<P> {
    /// Creates empty queues that share `limit`. Fails if a parameter is outside the range stated in
    /// [`DualPi2Config`].
    pub fn new(limit: Limit, config: DualPi2Config, random: RandomStream) -> Result<Self, ConfigError> {
        let DualPi2Config { target, update_interval, alpha, beta, coupling, classic_share, .. } = config;
        check(!target.is_zero(), "target", "greater than zero", 0.0)?;
        check_timer(update_interval, "update_interval")?;
        check(alpha >= 0.0 && alpha.is_finite(), "alpha", "at least zero and finite", alpha)?;
        check(beta >= 0.0 && beta.is_finite(), "beta", "at least zero and finite", beta)?;
        check(coupling > 0.0 && coupling.is_finite(), "coupling", "greater than zero and finite", coupling)?;
        let share = classic_share > 0.0 && classic_share < 1.0;
        check(share, "classic_share", "above 0 and below 1", classic_share)?;
        Ok(Self {
            limit,
            config,
            lanes: Lanes::new(2),
            random,
            base: BaseProbability::new(target, alpha, beta),
            credit: 0.0,
            delays: [Duration::ZERO; 2],
            due: Timestamp::ZERO + update_interval,
        })
    }
}

/// A packet that is about to depart.
#[derive(Debug)]
struct Taken<P> {
    /// Queue in which the packet waited.
    queue: usize,
    /// Arrival time.
    arrived: Timestamp,
    packet: P,
    /// Change of the credit if the packet is sent.
    credit: f64,
}

impl<P: Packet + Debug + Send> DualPi2<P> {
    /// Takes the next packet by weighted round robin.
    fn take(&mut self) -> Option<Taken<P>> {
        let waits = |queue| !self.lanes.lane(queue).is_empty();
        let (low_latency, classic) = (waits(LOW_LATENCY), waits(CLASSIC));
        let queue = match (low_latency, classic) {
            (true, true) if self.credit <= 0.0 => LOW_LATENCY,
            (true, false) => LOW_LATENCY,
            (_, true) => CLASSIC,
            (false, false) => {
                self.credit = 0.0;
                return None;
            }
        };
        let (arrived, packet) = self.lanes.change(queue, Fifo::pop)?;
        let (size, share) = (packet.size().as_f64(), self.config.classic_share);
        let credit = match (low_latency && classic, queue) {
            (false, _) => 0.0,
            (true, LOW_LATENCY) => share * size,
            (true, _) => (share - 1.0) * size,
        };
        Some(Taken { queue, arrived, packet, credit })
    }

    /// Marks, drops or passes a departing packet. Returns `None` if the packet is dropped.
    fn treat(&mut self, now: Timestamp, taken: Taken<P>, sink: &mut dyn QueueSink<P>) -> Option<P> {
        let Taken { queue, arrived, mut packet, .. } = taken;
        let coupled = self.config.coupling * self.base.value();
        let overload = coupled.max(self.base.value()) >= 1.0;
        // The backlog behind the packet counts, as in Linux.
        let stands = self.lanes.backlog().bytes >= self.config.packet * 2;
        let is_classic = queue == CLASSIC;
        if stands && (is_classic || overload) {
            // p'² is the probability that two random samples are both below p'.
            let chosen = self.random.chance(self.base.value()) && self.random.chance(self.base.value());
            if chosen && (overload || !mark(now, &mut packet, sink)) {
                sink.on_drop(now, packet, DropReason::Early);
                return None;
            }
        }
        if !is_classic {
            let waited = now.since(arrived) > self.config.step;
            if waited || (stands && self.random.chance(coupled)) {
                mark(now, &mut packet, sink);
            }
        }
        Some(packet)
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        if self.limit.admits(self.lanes.backlog(), packet.size()) {
            let queue = match packet.ecn() {
                Ecn::Ect1 | Ecn::Ce => LOW_LATENCY,
                Ecn::NotEct | Ecn::Ect0 => CLASSIC,
            };
            self.lanes.push(queue, now, packet);
        } else {
            sink.on_drop(now, packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        loop {
            let taken = self.take()?;
            let credit = taken.credit;
            if let Some(packet) = self.treat(now, taken, sink) {
                // Only a packet that is sent uses a share of the link.
                self.credit += credit;
                return Some(packet);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.lanes.backlog()
    }

    fn on_timer(&mut self, now: Timestamp, _sink: &mut dyn QueueSink<P>) {
        self.delays = [LOW_LATENCY, CLASSIC].map(|queue| self.lanes.lane(queue).delay(now));
        self.base.update(self.delays[LOW_LATENCY].max(self.delays[CLASSIC]));
        self.due = now + self.config.update_interval;
    }

    fn next_timer(&self) -> Timestamp {
        self.due
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report("base_probability", self.base.value());
        report("classic_delay_s", self.delays[CLASSIC].as_secs_f64());
        report("low_latency_delay_s", self.delays[LOW_LATENCY].as_secs_f64());
    }
}
