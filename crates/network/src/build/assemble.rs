//! Construction of links and the recorder from a plan.

use std::sync::Arc;

use airpath_channel::rates::RateFacts;
use airpath_channel::{Arq, Jitter, Propagation, RateProcess, SteadyRate};
use airpath_model::{Duration, RandomStream, Timestamp};
use airpath_plan::{Draw, Fault, Input, LinkPlan, Part, Plan, PlanError, QueuePlan};

use super::channel::{arq, channel};
use super::router::{full_packets, limit, qdisc};
use crate::Components;
use crate::capture::Capture;
use crate::link::{AnyLink, Link, PlainLink, Queue};
use crate::record::{Buffer, Keep, Recorder};

/// Returns the links of a checked plan and their delays. `sources` contains the flow of the plan for each
/// flow of the run, `keep_damage` determines whether channels record corruption, and `outside` contains the
/// links with external queues.
pub(crate) fn assemble_links(
    plan: &Plan,
    inputs: &[Arc<Input>],
    seed: u64,
    sources: &[u32],
    keep_damage: bool,
    outside: &[usize],
    components: &Components,
) -> Result<(Vec<AnyLink>, Vec<f64>), PlanError> {
    let mut links = Vec::with_capacity(plan.links.len());
    let mut delays_s = Vec::with_capacity(plan.links.len());
    let (watched, full_packets) = (watched(plan), full_packets(plan));
    for (index, link) in plan.links.iter().enumerate() {
        let stream = |part: &str| RandomStream::new(seed, &format!("link/{}/{part}", link.name));
        let wrong = |fault: Fault| fault.of(Part::link(link));
        let delay = link.delay_ns.duration(&mut stream("delay"));
        delays_s.push(delay.as_secs_f64());
        let rate = rate_process(link, inputs, seed).map_err(wrong)?;
        let rate = rate.until(Timestamp::from_nanos(plan.duration_ns));
        let (watched, outside, full_packet) = (watched[index], outside.contains(&index), full_packets[index]);
        let index = index as u32;
        if let Some(rate) = plain_rate(link, &rate).filter(|_| !watched && !outside) {
            links.push(AnyLink::Plain(PlainLink::new(limit(&link.queue), rate, delay)));
            continue;
        }
        let qdisc = if outside {
            Queue::kept_outside()
        } else {
            let (flows, random) = (plan.flows.len(), stream("queue"));
            qdisc(&link.queue, &rate, full_packet, flows, sources, random, components).map_err(wrong)?
        };
        let channel = channel(link, rate, seed, keep_damage, components).map_err(wrong)?;
        let propagation = propagation(link, delay, stream("jitter"));
        let arq =
            link.arq.as_ref().map(|plan| arq(plan, components)).transpose().map_err(wrong)?.map(Arq::new);
        links.push(AnyLink::Full(Box::new(Link::new(index, watched, qdisc, channel, propagation, arq))));
    }

    Ok((links, delays_s))
}

/// Returns the recorder of a checked plan; `sources` as in [`assemble_links`], which returns `delays_s`.
pub(crate) fn assemble_recorder(
    plan: &Plan,
    sources: &[u32],
    delays_s: &[f64],
) -> Result<Recorder, PlanError> {
    let capture = Capture::new(plan, sources, delays_s)
        .map_err(|problem| Fault::new("record.capture", problem).of(Part::Run))?;
    let measured_at = |source: u32| plan.flows[source as usize].measured_at as u32;
    Ok(Recorder::new(
        plan.links.iter().map(|link| (link.record, buffer(&link.queue))),
        sources.iter().map(|&source| (measured_at(source), source)),
        plan.flows.len(),
        Keep {
            packets: plan.record.packets,
            estimate_samples: plan.record.estimate_samples,
            drops: plan.record.drops,
        },
        capture,
    ))
}

/// Returns the constant rate of a link that has only a rate, a delay and a drop-tail queue.
fn plain_rate(link: &LinkPlan, rate: &RateProcess) -> Option<SteadyRate> {
    let LinkPlan { queue: QueuePlan::DropTail { .. }, jitter_ns: None, bursts: None, loss, .. } = link else {
        return None;
    };
    rate.steady().filter(|_| *loss <= 0.0)
}

/// Returns for each link whether any measurement uses it.
fn watched(plan: &Plan) -> Vec<bool> {
    let mut watched: Vec<bool> = plan.links.iter().map(|link| link.record).collect();
    let measured_at = plan.flows.iter().map(|flow| flow.measured_at);
    measured_at.chain(plan.record.capture.iter().copied()).for_each(|link| watched[link] = true);
    watched
}

fn buffer(queue: &QueuePlan) -> Buffer {
    match queue.limits() {
        (Some(bytes), _) => Buffer::Bytes(bytes),
        (None, Some(packets)) => Buffer::Packets(packets),
        (None, None) => Buffer::Unlimited,
    }
}

fn propagation(link: &LinkPlan, delay: Duration, stream: RandomStream) -> Propagation {
    let nanos = |nanos: f64| Duration::from_nanos((nanos + 0.5) as u64);
    let jitter = match link.jitter_ns {
        None => return Propagation::new(delay),
        Some(Draw::Constant { value }) => Jitter::Uniform { low: nanos(value), high: nanos(value) },
        Some(Draw::Uniform { low, high }) => Jitter::Uniform { low: nanos(low), high: nanos(high) },
        Some(Draw::Exponential { mean }) => Jitter::Exponential { mean: nanos(mean) },
    };
    Propagation::with_jitter(delay, jitter, stream).unwrap_or_else(|_| Propagation::new(delay))
}

/// Returns the rate of a link over time.
pub(crate) fn rate_process(link: &LinkPlan, inputs: &[Arc<Input>], seed: u64) -> Result<RateProcess, Fault> {
    let recordings: Vec<_> = inputs.iter().map(|input| &input.0).collect();
    let facts = RateFacts { link: &link.name, seed, recordings: &recordings };
    link.rate.process(facts).map_err(|error| Fault::new("rate", error))
}
