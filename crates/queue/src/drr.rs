//! Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt::Debug;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values, defaults};
use airpath_model::{Backlog, Bytes, DropReason, Packet, Qdisc, QueueSink, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::{QueueContext, QueueFacts, Queues};
use crate::fifo::Fifo;
use crate::lanes::Lanes;
#[cfg(feature = "declare")]
use crate::limit::MAX_QUEUES;
use crate::{Classifier, ConfigError, Limit};

/// Deficit round robin (Shreedhar and Varghese 1995).
#[cfg(feature = "declare")]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct DrrConfig {
    /// Quantum: the bytes that a queue of weight 1 sends in its turn. Default: the largest packet that any
    /// flow sends.
    #[schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "packet"))]
    pub quantum: Bytes,
    /// Number of queues to which flows are hashed, without `weights`.
    #[serde(default = "default::queues")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub queues: u32,
}

#[cfg(feature = "declare")]
defaults! {
    queues: u32 = 1024;
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for DrrConfig {
    const ID: &'static str = "drr";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        given.entry("quantum").or_insert(context.packet.get().into());
        Ok(())
    }

    fn build(&self, mut facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        let Self { quantum, queues } = *self;
        check((1..=MAX_QUEUES).contains(&queues), "queues", "from 1 to 1048576", queues.into())?;
        let classifier = Classifier::hash(queues, &mut facts.random);
        Ok(Box::new(Drr::new(facts.limit, classifier, &alloc::vec![quantum; queues as usize])?))
    }
}

/// Deficit round robin over classes of flows.
#[cfg(feature = "declare")]
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct WeightedDrrConfig {
    /// Quantum of each class: the bytes that the class sends in its turn.
    #[schemars(extend("x-default-from" = "packet"))]
    pub quanta: Vec<Bytes>,
    /// Class of each flow of the plan.
    pub class_of_flow: Vec<u32>,
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for WeightedDrrConfig {
    const ID: &'static str = "weighted-drr";

    fn fill_defaults(given: &mut Values, context: &QueueContext) -> Result<(), ComponentError> {
        given.entry("quanta").or_insert_with(|| alloc::vec![context.packet.get()].into());
        Ok(())
    }

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        let classes = Classifier::of_classes(self.quanta.len() as u32, &self.class_of_flow, &facts)?;
        Ok(Box::new(Drr::new(facts.limit, classes, &self.quanta)?))
    }
}

/// Deficit round robin: queues take turns. In its turn a busy queue may send its quantum of bytes plus the
/// unused remainder of its previous turn. Busy queues share the link in proportion to their quanta.
///
/// If the shared buffer overflows, the packet at the head of the queue with the most bytes is dropped. The
/// sender detects this loss early, and the retransmission joins the tail, so that it is not dropped again
/// while that queue is still the longest.
///
/// Series: `busy_queues`.
#[derive(Debug)]
pub struct Drr<P> {
    limit: Limit,
    classifier: Classifier,
    lanes: Lanes<P>,
    /// Quantum of each queue in bytes; the next field is the deficit of each queue in bytes.
    quanta: Box<[u64]>,
    deficits: Vec<u64>,
    /// The busy queues in the order of their turns. The first queue has begun its turn if `serving`.
    active: VecDeque<usize>,
    is_active: Vec<bool>,
    serving: bool,
}

impl<P> Drr<P> {
    /// Creates empty queues that share `limit`, with one quantum for each queue of the classifier. Fails if
    /// there is no queue or a quantum is zero or missing.
    pub fn new(limit: Limit, classifier: Classifier, quanta: &[Bytes]) -> Result<Self, ConfigError> {
        let queues = classifier.queues();
        check(queues > 0, "queues", "at least one", 0.0)?;
        check(quanta.len() == queues, "quanta", "one for each queue", quanta.len() as f64)?;
        check(quanta.iter().all(|quantum| !quantum.is_zero()), "quantum", "at least one byte", 0.0)?;
        Ok(Self {
            limit,
            classifier,
            lanes: Lanes::new(queues),
            quanta: quanta.iter().map(|quantum| quantum.get()).collect(),
            deficits: alloc::vec![0; queues],
            active: VecDeque::new(),
            is_active: alloc::vec![false; queues],
            serving: false,
        })
    }

    /// Removes an empty queue from the rotation and discards its unused deficit.
    fn end_turns(&mut self, queue: usize) {
        if self.active.front() == Some(&queue) {
            self.active.pop_front();
            self.serving = false;
        } else {
            self.active.retain(|&other| other != queue);
        }
        self.is_active[queue] = false;
        self.deficits[queue] = 0;
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Drr<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        let queue = self.classifier.queue_of(packet.flow());
        self.lanes.push(queue, now, packet);
        if !self.is_active[queue] {
            self.is_active[queue] = true;
            self.active.push_back(queue);
        }
        while !self.limit.holds(self.lanes.backlog()) {
            let longest = self.lanes.longest();
            let Some((_, packet)) = self.lanes.change(longest, Fifo::pop) else { return };
            sink.on_drop(now, packet, DropReason::Overflow);
            if self.lanes.lane(longest).is_empty() {
                self.end_turns(longest);
            }
        }
    }

    fn dequeue(&mut self, _now: Timestamp, _sink: &mut dyn QueueSink<P>) -> Option<P> {
        loop {
            let queue = *self.active.front()?;
            let size = self.lanes.lane(queue).head_size()?; // active queues contain packets
            if !self.serving {
                self.serving = true;
                self.deficits[queue] += self.quanta[queue];
            }
            if size.get() <= self.deficits[queue] {
                self.deficits[queue] -= size.get();
                let (_, packet) = self.lanes.change(queue, Fifo::pop)?;
                if self.lanes.lane(queue).is_empty() {
                    // Before the packet has been sent: a packet that arrives during its transmission waits
                    // for the next round.
                    self.end_turns(queue);
                }
                return Some(packet);
            }
            self.active.rotate_left(1);
            self.serving = false;
        }
    }

    fn backlog(&self) -> Backlog {
        self.lanes.backlog()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        let busy = (0..self.lanes.count()).filter(|&index| !self.lanes.lane(index).is_empty()).count();
        report("busy_queues", busy as f64);
    }
}
