//! Small plans.

use airpath_plan::*;

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const MILLISECOND: u64 = 1_000_000;

/// Returns a link with a drop-tail queue of some packets.
pub(crate) fn link(name: &str, rate: RatePlan, delay_ms: f64, queue_packets: u64) -> LinkPlan {
    LinkPlan {
        name: name.to_owned(),
        rate,
        delay_ns: Draw::Constant { value: delay_ms * MILLISECOND as f64 },
        jitter_ns: None,
        loss: 0.0,
        bursts: None,
        arq: None,
        queue: QueuePlan::DropTail { limit_bytes: None, limit_packets: Some(queue_packets) },
        record: true,
    }
}

pub(crate) fn constant(bps: u64) -> RatePlan {
    RatePlan::Constant(ConstantConfig { bps })
}

/// Returns a plan with flows over link 0, and acknowledgments over link 1.
pub(crate) fn plan(seconds: u64, links: Vec<LinkPlan>, flows: usize) -> Plan {
    let flow = |number| FlowPlan {
        name: format!("flow{number}"),
        path: vec![0],
        reverse_path: vec![1],
        measured_at: 0,
        start_ns: Draw::Constant { value: 0.0 },
        stop_ns: None,
        traffic: TrafficPlan::Bulk,
        controller: None,
        transport: None,
        estimators: vec![],
    };
    Plan {
        format: Plan::FORMAT,
        duration_ns: seconds * SECOND,
        record: RecordPlan {
            measure_from_ns: 0,
            interval_ns: 100 * MILLISECOND,
            packets: false,
            estimate_samples: false,
            drops: true,
            flow_limits: false,
            capture: vec![],
            qlog: false,
        },
        estimators: vec![],
        links,
        flows: (0..flows).map(flow).collect(),
    }
}
