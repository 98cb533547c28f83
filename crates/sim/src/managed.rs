//! From the plan of a managed queue to the queue.

use airpath_model::{Bytes, Duration, Qdisc, RandomStream, Rate};
use airpath_queue::{ConfigError, Limit, QueueUnit, Red, RedConfig, Rem, RemConfig, RemResponse};

use crate::packet::Packet;
use crate::plan::{ManagementPlan, QueueUnitPlan, RemResponsePlan};

/// The queue of a plan, whose random choices come from `random`.
///
/// # Errors
/// The parameter that is out of range.
pub(crate) fn managed(
    plan: &ManagementPlan,
    limit: Limit,
    random: RandomStream,
) -> Result<Box<dyn Qdisc<Packet>>, ConfigError> {
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
    })
}

const fn queue_unit(plan: QueueUnitPlan) -> QueueUnit {
    match plan {
        QueueUnitPlan::Packets => QueueUnit::Packets,
        QueueUnitPlan::Bytes => QueueUnit::Bytes,
    }
}
