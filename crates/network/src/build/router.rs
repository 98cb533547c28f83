//! Construction of a queue from its plan: drop-tail, a router protocol with its capacity source, or a managed
//! queue.

use airpath_channel::{ChannelRate, RateProcess};
use airpath_estimate::declare::{LinkTruth, SourceFacts};
use airpath_model::declare::ComponentError;
use airpath_model::{Bytes, CapacitySource, Duration, RandomStream, TrueRate};
use airpath_plan::{Fault, FlowPlan, Plan, QueuePlan, SourcePlan, TrafficPlan};
use airpath_queue::declare::{ProtocolFacts, QueueFacts};
use airpath_queue::{DropTail, Limit};

use crate::Components;
use crate::link::Queue;

/// Returns the queue of a plan for a link with that rate process and full packets of size `full_packet`.
/// `flows` is the number of flows of the plan, `flow_sources` contains the flow of the plan for each flow of
/// the run, and random choices come from `random`.
///
/// # Errors
/// If a component rejects its parameters.
pub(crate) fn qdisc(
    plan: &QueuePlan,
    rate: &RateProcess,
    full_packet: Bytes,
    flows: usize,
    flow_sources: &[u32],
    random: RandomStream,
    components: &Components,
) -> Result<Queue, Fault> {
    let limit = limit(plan);
    let buffer = buffer_size(limit, full_packet);
    match plan {
        QueuePlan::DropTail { .. } => Ok(Queue::DropTail(DropTail::new(limit))),
        QueuePlan::Managed { management, .. } => {
            let facts = QueueFacts { limit, buffer, flows, flow_sources, random };
            components
                .queues
                .build(management, &(), facts)
                .map(Queue::ours)
                .map_err(|error| Fault::in_table("queue", error))
        }
        QueuePlan::Router { protocol, source, .. } => {
            let protocol = components.protocols.read(protocol, &()).map_err(of_protocol)?;
            let xcp_alpha = protocol.needs().xcp_alpha;
            let source = self::source(source, xcp_alpha, limit, buffer, rate, components)?;
            protocol.build(ProtocolFacts { limit, buffer, source }).map(Queue::ours).map_err(of_protocol)
        }
    }
}

/// Returns the limit of the queue.
pub(crate) fn limit(plan: &QueuePlan) -> Limit {
    match plan.limits() {
        (Some(bytes), _) => Limit::Bytes(Bytes::new(bytes)),
        (None, Some(packets)) => Limit::Packets(packets),
        (None, None) => Limit::Unlimited,
    }
}

/// Builds the capacity source of a router; `xcp_alpha` is its protocol's value of alpha.
fn source(
    plan: &SourcePlan,
    xcp_alpha: Option<f64>,
    limit: Limit,
    buffer: Bytes,
    rate: &RateProcess,
    components: &Components,
) -> Result<Box<dyn CapacitySource>, Fault> {
    let factory = components.sources.read(plan, &()).map_err(of_source)?;
    let needs = factory.needs();
    if limit == Limit::Unlimited && needs.limit {
        let problem = "the capacity source acts on shares of the buffer; accepted: a limit";
        return Err(Fault::new("queue.limit", problem));
    }
    if let (None, Some(problem)) = (xcp_alpha, needs.xcp) {
        return Err(Fault::new("queue.source", problem));
    }
    factory.build(SourceFacts { buffer, truth: &Truth(rate), xcp_alpha }).map_err(of_source)
}

/// The true rate of a simulated link.
#[derive(Debug)]
struct Truth<'a>(&'a RateProcess);

impl LinkTruth for Truth<'_> {
    fn averaged_over(&self, averaging: Duration) -> Box<dyn TrueRate> {
        Box::new(ChannelRate::new(self.0).averaged_over(averaging))
    }
}

/// Returns the buffer size in bytes, for thresholds: a limit in packets counts full packets, no limit counts
/// as a terabyte.
fn buffer_size(limit: Limit, full_packet: Bytes) -> Bytes {
    match limit {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(packets) => full_packet * packets,
        Limit::Unlimited => Bytes::new(1_000_000_000_000),
    }
}

/// Returns for each link the largest data packet, in bytes on the wire, that the flows of a plan send over
/// it. If no flow does, or if datagrams have random sizes, a packet that fills an Ethernet frame counts as
/// well.
pub(crate) fn full_packets(plan: &Plan) -> Vec<Bytes> {
    let mut largest = vec![None; plan.links.len()];
    for flow in &plan.flows {
        let packet = Some(largest_packet(flow));
        flow.path.iter().for_each(|&link| largest[link] = packet.max(largest[link]));
    }
    largest.into_iter().map(|packet| Bytes::new(packet.unwrap_or(ETHERNET))).collect()
}

fn largest_packet(flow: &FlowPlan) -> u64 {
    match (&flow.transport, &flow.traffic) {
        // The packet check rejects larger ones.
        (Some(transport), _) => transport.mss_bytes.saturating_add(transport.header_bytes),
        (None, TrafficPlan::ConstantBitRate { packet_bytes, .. }) => *packet_bytes,
        (None, _) => ETHERNET,
    }
}

/// Size in bytes of a packet that fills an Ethernet frame.
const ETHERNET: u64 = 1500;

fn of_protocol(error: impl Into<ComponentError>) -> Fault {
    Fault::in_table("queue.protocol", error)
}

fn of_source(error: impl Into<ComponentError>) -> Fault {
    Fault::in_table("queue.source", error)
}
