//! Flow queueing with controlled delay (RFC 8290).

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt::Debug;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values, defaults};
use airpath_model::{Backlog, Bytes, DropReason, Packet, Qdisc, QueueSink, RandomStream, Timestamp};

use crate::codel::CodelControl;
#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::fifo::Fifo;
use crate::lanes::Lanes;
use crate::limit::MAX_QUEUES;
use crate::{Classifier, CodelConfig, ConfigError, Limit};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

/// Largest number of packets that an overflow drops at once (RFC 8290, section 4.1; Linux).
const DROP_BATCH: u64 = 64;

/// Flow queueing with controlled delay (RFC 8290).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct FqCodelConfig {
    /// Parameters of the CoDel instance of each queue.
    #[cfg_attr(feature = "declare", serde(flatten))]
    pub codel: CodelConfig,
    /// Quantum: the bytes that a queue sends in its turn. Default: the largest packet that any flow sends.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "packet")))]
    pub quantum: Bytes,
    /// Number of queues to which flows are hashed (RFC 8290: 1024).
    #[cfg_attr(
        feature = "declare",
        serde(default = "default::queues"),
        schemars(range(min = 1, max = 1_048_576))
    )]
    pub queues: u32,
}

#[cfg(feature = "declare")]
defaults! {
    queues: u32 = 1024;
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for FqCodelConfig {
    const ID: &'static str = "fq-codel";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        given.entry("packet").or_insert(context.packet.get().into());
        given.entry("quantum").or_insert(context.packet.get().into());
        Ok(())
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        Ok(Box::new(FqCodel::new(facts.limit, *self, facts.random)?))
    }
}

/// FQ-CoDel: flows are hashed to queues, each with its own CoDel instance. Deficit round robin serves the
/// queues by bytes, first the queues that just became busy (RFC 8290, section 4).
///
/// If the buffer overflows, packets at the head of the queue with the most bytes are dropped, half of its
/// bytes but at most 64 packets, with the reason `overflow`.
///
/// Series: `busy_queues`, `drop_count` (the largest of all CoDel instances).
#[derive(Debug)]
pub struct FqCodel<P> {
    limit: Limit,
    quantum: i64,
    classifier: Classifier,
    lanes: Lanes<P>,
    flows: Vec<FlowQueue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    control: CodelControl,
    credits: i64,
    /// Whether the queue is in the list of new or of old queues.
    listed: bool,
}

impl<P> FqCodel<P> {
    /// Creates empty queues that share `limit`. Fails if a parameter is outside the range stated in
    /// [`FqCodelConfig`].
    pub fn new(limit: Limit, config: FqCodelConfig, mut random: RandomStream) -> Result<Self, ConfigError> {
        let FqCodelConfig { codel, quantum, queues } = config;
        codel.check()?;
        check(!quantum.is_zero(), "quantum", "at least one byte", 0.0)?;
        check((1..=MAX_QUEUES).contains(&queues), "queues", "from 1 to 1048576", queues.into())?;
        let flow = FlowQueue { control: CodelControl::new(codel), credits: 0, listed: false };
        Ok(Self {
            limit,
            quantum: quantum.get() as i64,
            classifier: Classifier::hash(queues, &mut random),
            lanes: Lanes::new(queues as usize),
            flows: alloc::vec![flow; queues as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
        })
    }
}

impl<P: Packet + Debug + Send> FqCodel<P> {
    /// Drops half of the bytes of the queue with the most bytes, at most one batch. Returns whether it
    /// dropped a packet: if all packets have size zero, the selected queue may be empty.
    fn drop_from_longest(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> bool {
        let longest = self.lanes.longest();
        let half = self.lanes.lane(longest).backlog().bytes.get() / 2;
        let (mut dropped, mut any) = (0, false);
        for _ in 0..DROP_BATCH {
            let Some((_, packet)) = self.lanes.change(longest, Fifo::pop) else { break };
            dropped += packet.size().get();
            any = true;
            sink.on_drop(now, packet, DropReason::Overflow);
            if dropped >= half {
                break;
            }
        }
        any
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        let index = self.classifier.queue_of(packet.flow());
        self.lanes.push(index, now, packet);
        let flow = &mut self.flows[index];
        if !flow.listed {
            flow.listed = true;
            flow.credits = self.quantum;
            self.new.push_back(index);
        }
        while !self.limit.holds(self.lanes.backlog()) && self.drop_from_longest(now, sink) {}
    }

    fn dequeue(&mut self, now: Timestamp, sink: &mut dyn QueueSink<P>) -> Option<P> {
        loop {
            let is_new = !self.new.is_empty();
            let index = *(if is_new { self.new.front() } else { self.old.front() })?;
            let flow = &mut self.flows[index];
            let packet = if flow.credits > 0 {
                self.lanes.change(index, |lane| flow.control.dequeue(now, lane, sink))
            } else {
                None
            };
            if let Some(packet) = packet {
                flow.credits -= packet.size().get() as i64;
                return Some(packet);
            }
            // The turn of the queue is over. A new queue that became empty stays for one round as an old
            // queue, so that a flow cannot become new again at once and starve the others.
            if is_new {
                self.new.pop_front()
            } else {
                self.old.pop_front()
            };
            if flow.credits <= 0 {
                flow.credits += self.quantum;
                self.old.push_back(index);
            } else if is_new {
                self.old.push_back(index);
            } else {
                flow.listed = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.lanes.backlog()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        let busy = (0..self.lanes.count()).filter(|&index| !self.lanes.lane(index).is_empty()).count();
        report("busy_queues", busy as f64);
        let dropping = self.flows.iter().filter(|flow| flow.control.is_dropping());
        report("drop_count", dropping.map(|flow| f64::from(flow.control.count())).fold(0.0, f64::max));
    }
}
