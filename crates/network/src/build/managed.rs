//! From the plan of a managed queue to the queue.

use airpath_model::declare::ComponentError;
use airpath_model::{Bytes, Qdisc, RandomStream};
use airpath_plan::ManagementPlan;
use airpath_queue::declare::QueueFacts;
use airpath_queue::{Classifier, Drr, Limit, Priority};

use crate::Components;
use crate::packet::Packet;

/// The queue of a plan with that limit, which is `buffer` in bytes; `flow_sources` and `random` as for any queue.
///
/// # Errors
/// The parameter that is out of range.
pub(crate) fn managed(
    plan: &ManagementPlan,
    limit: Limit,
    buffer: Bytes,
    flow_sources: &[u32],
    mut random: RandomStream,
    components: &Components,
) -> Result<Box<dyn Qdisc<Packet>>, ComponentError> {
    Ok(match *plan {
        ManagementPlan::Declared(ref part) => {
            components.queues.build(part, &(), QueueFacts { limit, buffer, flow_sources, random })?
        }
        ManagementPlan::Priority { classes, ref class_of_flow } => {
            Box::new(Priority::new(limit, table(classes, class_of_flow, flow_sources))?)
        }
        ManagementPlan::Drr { quantum_bytes, queues } => {
            let quanta = vec![Bytes::new(quantum_bytes); queues as usize];
            Box::new(Drr::new(limit, Classifier::hash(queues, &mut random), &quanta)?)
        }
        ManagementPlan::WeightedDrr { ref quanta_bytes, ref class_of_flow } => {
            let quanta: Vec<Bytes> = quanta_bytes.iter().map(|&quantum| Bytes::new(quantum)).collect();
            let classes = table(quanta.len() as u32, class_of_flow, flow_sources);
            Box::new(Drr::new(limit, classes, &quanta)?)
        }
    })
}

/// The class of each flow and direction of the run, from that of each flow of the plan.
fn table(classes: u32, class_of_flow: &[u32], flow_sources: &[u32]) -> Classifier {
    let class = |&source: &u32| class_of_flow.get(source as usize).copied().unwrap_or(u32::MAX);
    let of_flow = flow_sources.iter().map(class).flat_map(|class| [class; 2]).collect();
    Classifier::Table { queues: classes, of_flow }
}
