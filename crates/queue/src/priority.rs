//! Strict priority.

use core::fmt::Debug;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::Component;
use airpath_model::{Backlog, DropReason, Packet, Qdisc, QueueSink, Timestamp};

#[cfg(feature = "declare")]
use crate::declare::{QueueFacts, Queues};
use crate::fifo::Fifo;
use crate::lanes::Lanes;
#[cfg(feature = "declare")]
use crate::limit::MAX_QUEUES;
use crate::{Classifier, ConfigError, Limit};
#[cfg(feature = "declare")]
use alloc::{boxed::Box, vec::Vec};

/// Strict priority between classes of flows.
#[cfg(feature = "declare")]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct PriorityConfig {
    /// Number of classes.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub classes: u32,
    /// Class of each flow of the plan; class 0 has the highest priority.
    pub class_of_flow: Vec<u32>,
}

#[cfg(feature = "declare")]
impl Default for PriorityConfig {
    fn default() -> Self {
        Self { classes: 1, class_of_flow: Vec::new() }
    }
}

#[cfg(feature = "declare")]
impl<P: Packet + Debug + Send + 'static> Component<Queues<P>> for PriorityConfig {
    const ID: &'static str = "priority";

    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        check((1..=MAX_QUEUES).contains(&self.classes), "classes", "from 1 to 1048576", self.classes.into())?;
        let classes = Classifier::of_classes(self.classes, &self.class_of_flow, &facts)?;
        Ok(Box::new(Priority::new(facts.limit, classes)?))
    }
}

/// Strict priority: the first class with a packet sends it. A class therefore waits as long as a class before
/// it is busy.
///
/// If the shared buffer overflows, the last packet of the last busy class is dropped. A class therefore
/// cannot lose packets to a class behind it.
///
/// Series: `busy_queues`.
#[derive(Debug)]
pub struct Priority<P> {
    limit: Limit,
    classifier: Classifier,
    lanes: Lanes<P>,
}

impl<P> Priority<P> {
    /// Creates empty classes that share `limit`, one for each queue of the classifier; the first has the
    /// highest priority. Fails if there is no class.
    pub fn new(limit: Limit, classifier: Classifier) -> Result<Self, ConfigError> {
        let classes = classifier.queues();
        check(classes > 0, "classes", "at least one", 0.0)?;
        Ok(Self { limit, classifier, lanes: Lanes::new(classes) })
    }
}

impl<P: Packet + Debug + Send> Qdisc<P> for Priority<P> {
    fn enqueue(&mut self, now: Timestamp, packet: P, sink: &mut dyn QueueSink<P>) {
        self.lanes.push(self.classifier.queue_of(packet.flow()), now, packet);
        while !self.limit.holds(self.lanes.backlog()) {
            let dropped =
                (0..self.lanes.count()).rev().find_map(|class| self.lanes.change(class, Fifo::pop_last));
            let Some(packet) = dropped else { return };
            sink.on_drop(now, packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, _now: Timestamp, _sink: &mut dyn QueueSink<P>) -> Option<P> {
        let class = (0..self.lanes.count()).find(|&class| !self.lanes.lane(class).is_empty())?;
        self.lanes.change(class, Fifo::pop).map(|(_, packet)| packet)
    }

    fn backlog(&self) -> Backlog {
        self.lanes.backlog()
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        let busy = (0..self.lanes.count()).filter(|&index| !self.lanes.lane(index).is_empty()).count();
        report("busy_queues", busy as f64);
    }
}
