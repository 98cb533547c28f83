//! From the plan of a managed queue to the queue.

use airpath_model::declare::ComponentError;
use airpath_model::{Bytes, Duration, Qdisc, RandomStream, Rate};
use airpath_queue::declare::QueueFacts;
use airpath_queue::{
    Avq, AvqConfig, Classifier, CodelConfig, Drr, DualPi2, DualPi2Config, FqCodel, FqCodelConfig, Limit, Pie,
    PieConfig, PieDelay, Priority, QueueUnit, Red, RedConfig, Rem, RemConfig, RemResponse,
};

use crate::components::Components;
use crate::packet::Packet;
use crate::plan::{ManagementPlan, PieDelayPlan, QueueUnitPlan, RemResponsePlan};

/// The queue of a plan with that limit, which is `buffer` in bytes; `flow_sources` and `random` as for any queue.
///
/// # Errors
/// The parameter that is out of range.
#[expect(clippy::too_many_lines, reason = "one arm for each queue")]
pub(crate) fn managed(
    plan: &ManagementPlan,
    limit: Limit,
    buffer: Bytes,
    flow_sources: &[u32],
    mut random: RandomStream,
    components: &Components,
) -> Result<Box<dyn Qdisc<Packet>>, ComponentError> {
    Ok(match *plan {
        ManagementPlan::Red {
            unit,
            minimum,
            maximum,
            max_probability,
            weight,
            gentle,
            wait,
            adaptive,
            ecn,
            mark_limit,
            packet_bytes,
            packet_time_ns,
        } => {
            let config = RedConfig {
                unit: queue_unit(unit),
                minimum,
                maximum,
                max_probability,
                weight,
                gentle,
                wait,
                adaptive,
                ecn,
                mark_limit,
                packet: Bytes::new(packet_bytes),
                packet_time: Duration::from_nanos(packet_time_ns),
            };
            Box::new(Red::new(limit, config, random)?)
        }
        ManagementPlan::Rem {
            unit,
            capacity_bps,
            interval_ns,
            gamma,
            alpha,
            phi,
            target,
            response,
            packet_bytes,
        } => {
            let config = RemConfig {
                unit: queue_unit(unit),
                capacity: Rate::from_bps(capacity_bps),
                interval: Duration::from_nanos(interval_ns),
                gamma,
                alpha,
                phi,
                target,
                response: match response {
                    RemResponsePlan::Drop => RemResponse::Drop,
                    RemResponsePlan::Mark => RemResponse::Mark,
                    RemResponsePlan::MarkOnly => RemResponse::MarkOnly,
                },
                packet: Bytes::new(packet_bytes),
            };
            Box::new(Rem::new(limit, config, random)?)
        }
        ManagementPlan::Avq { capacity_bps, alpha, gamma, initial_share, ecn } => {
            let capacity = Rate::from_bps(capacity_bps);
            Box::new(Avq::new(limit, AvqConfig { capacity, buffer, alpha, gamma, initial_share, ecn })?)
        }
        ManagementPlan::Declared(ref part) => {
            components.queues.build(part, &(), QueueFacts { limit, buffer, flow_sources, random })?
        }
        ManagementPlan::FqCodel { target_ns, interval_ns, packet_bytes, ecn, quantum_bytes, queues } => {
            let codel = codel(target_ns, interval_ns, packet_bytes, ecn);
            let config = FqCodelConfig { codel, quantum: Bytes::new(quantum_bytes), queues };
            Box::new(FqCodel::new(limit, config, random)?)
        }
        ManagementPlan::Pie {
            target_ns,
            update_ns,
            alpha,
            beta,
            burst_ns,
            delay,
            derandomise,
            ecn,
            mark_limit,
            packet_bytes,
        } => {
            let config = PieConfig {
                target: Duration::from_nanos(target_ns),
                update: Duration::from_nanos(update_ns),
                alpha,
                beta,
                burst: Duration::from_nanos(burst_ns),
                delay: match delay {
                    PieDelayPlan::Timestamps => PieDelay::Timestamps,
                    PieDelayPlan::DepartureRate => PieDelay::DepartureRate,
                },
                derandomise,
                ecn,
                mark_limit,
                packet: Bytes::new(packet_bytes),
            };
            Box::new(Pie::new(limit, config, random)?)
        }
        ManagementPlan::DualPi2 {
            target_ns,
            update_ns,
            alpha,
            beta,
            coupling,
            step_ns,
            classic_share,
            packet_bytes,
        } => {
            let config = DualPi2Config {
                target: Duration::from_nanos(target_ns),
                update: Duration::from_nanos(update_ns),
                alpha,
                beta,
                coupling,
                step: Duration::from_nanos(step_ns),
                classic_share,
                packet: Bytes::new(packet_bytes),
            };
            Box::new(DualPi2::new(limit, config, random)?)
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

const fn codel(target_ns: u64, interval_ns: u64, packet_bytes: u64, ecn: bool) -> CodelConfig {
    CodelConfig {
        target: Duration::from_nanos(target_ns),
        interval: Duration::from_nanos(interval_ns),
        packet: Bytes::new(packet_bytes),
        ecn,
    }
}

/// The class of each flow and direction of the run, from that of each flow of the plan.
fn table(classes: u32, class_of_flow: &[u32], flow_sources: &[u32]) -> Classifier {
    let class = |&source: &u32| class_of_flow.get(source as usize).copied().unwrap_or(u32::MAX);
    let of_flow = flow_sources.iter().map(class).flat_map(|class| [class; 2]).collect();
    Classifier::Table { queues: classes, of_flow }
}

pub(crate) const fn queue_unit(plan: QueueUnitPlan) -> QueueUnit {
    match plan {
        QueueUnitPlan::Packets => QueueUnit::Packets,
        QueueUnitPlan::Bytes => QueueUnit::Bytes,
    }
}
