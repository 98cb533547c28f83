//! From a plan to links and flows.

use std::sync::Arc;

use airpath_channel::{
    Arq, Jitter, Opportunities, Propagation, RateProcess, Schedule, ScheduleEnd, SteadyRate, Step, TraceEnd,
    UniformRate,
};
use airpath_model::{Bytes, Duration, RandomStream, Rate, Timestamp};

use crate::any_link::AnyLink;
use crate::capture::Capture;
use crate::channel::channel;
use crate::components::Components;
use crate::configure::{PlannedController, receiver_config, sender_config};
use crate::fault::{Fault, Part, PlanError};
use crate::flow::{ConnectionSetup, ConnectionSource, Flow, FlowKind};
use crate::input::Input;
use crate::link::Link;
use crate::part::Queue;
use crate::plain_link::PlainLink;
use crate::plan::{AckRatePlan, ControllerPlan, Draw, FlowPlan, LinkPlan, Plan, QueuePlan, RatePlan};
use crate::record::{Buffer, Keep, Recorder};
use crate::router::{full_packets, limit, qdisc};
use crate::transmissions::logged_flows;
use crate::workload::{Files, Sending, Workload, workloads};

/// Ends a route in the route table.
pub(crate) const END_OF_ROUTE: u32 = u32::MAX;

/// Where the routes of one flow of the plan begin in the route table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowRoutes {
    /// From its sender to its receiver.
    pub(crate) forward: u32,
    /// Back.
    pub(crate) back: u32,
}

/// The route table of a checked plan, and where in it each flow of the plan stands.
pub(crate) fn assemble_routes(plan: &Plan) -> (Vec<u32>, Vec<FlowRoutes>) {
    let mut routes = Vec::new();
    let mut add = |path: &[usize]| {
        let begins = routes.len() as u32;
        routes.extend(path.iter().map(|&link| link as u32));
        routes.push(END_OF_ROUTE);
        begins
    };
    let places = plan.flows.iter().map(|flow| {
        let forward = add(&flow.path);
        FlowRoutes { forward, back: add(&flow.reverse_path) }
    });
    let places = places.collect();
    (routes, places)
}

/// The flows of a checked plan, each with the flow of the plan that it comes from. Every random component gets a stream
/// of its own, named by its path.
pub(crate) fn assemble_flows(
    plan: &Plan,
    routes: &[FlowRoutes],
    seed: u64,
    components: &Components,
) -> Result<(Vec<Flow>, Vec<u32>), PlanError> {
    let (mut flows, mut sources) = (Vec::new(), Vec::new());
    // Successive flows with equal controllers share one factory.
    let mut last: Option<(&ControllerPlan, PlannedController)> = None;
    for (source, (flow, routes)) in (0..).zip(plan.flows.iter().zip(routes)) {
        last = match (&flow.controller, last) {
            (Some(wanted), Some((known, planned))) if wanted == known => Some((known, planned)),
            (Some(wanted), _) => Some((wanted, read_controller(flow, wanted, components)?)),
            (None, last) => last,
        };
        let planned = flow.controller.as_ref().and(last.as_ref()).map(|(_, planned)| planned);
        for (instance, (start, kind)) in (0..).zip(kinds(flow, plan, seed, planned)?) {
            let (index, route, reverse_route) = (flows.len() as u32, routes.forward, routes.back);
            flows.push(Flow::new(index, instance, [route, reverse_route], start, kind));
            sources.push(source);
        }
    }
    if plan.record.qlog {
        keep_logs(&mut flows);
    }
    Ok((flows, sources))
}

/// Keeps logs of as many flows as may have one.
fn keep_logs(flows: &mut [Flow]) {
    let is_reliable = |flow: &Flow| matches!(flow.kind, FlowKind::Connections(_));
    let chosen = logged_flows(flows.iter().map(|flow| (is_reliable(flow), flow.instance)));
    let count = chosen.iter().filter(|chosen| **chosen).count();
    flows.iter_mut().zip(chosen).filter(|(_, chosen)| *chosen).for_each(|(flow, _)| flow.keep_log(count));
}

/// The links of a checked plan and their delays; `sources` is the flow of the plan from which each flow of the run comes,
/// `keep_damage` whether channels keep what they damage, and the queues of the links `outside` are somebody else's.
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
            qdisc(&link.queue, &rate, full_packet, sources, stream("queue"), components).map_err(wrong)?
        };
        let channel = channel(link, rate, seed, keep_damage).map_err(wrong)?;
        let propagation = propagation(link, delay, stream("jitter"));
        let arq = link.arq.map(|arq| Arq::new(arq.retries, Duration::from_nanos(arq.delay_ns), arq.in_order));
        links.push(AnyLink::Full(Box::new(Link::new(index, watched, qdisc, channel, propagation, arq))));
    }

    Ok((links, delays_s))
}

/// What is to be recorded; `sources` as above.
pub(crate) fn assemble_recorder(plan: &Plan, sources: &[u32]) -> Result<Recorder, PlanError> {
    let capture = Capture::new(&plan.record.capture, &plan.links)
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

/// The one rate of a link that has no more than a rate, a delay and a drop-tail queue.
fn plain_rate(link: &LinkPlan, rate: &RateProcess) -> Option<SteadyRate> {
    let LinkPlan { queue: QueuePlan::DropTail { .. }, jitter_ns: None, bursts: None, loss, .. } = link else {
        return None;
    };
    rate.steady().filter(|_| *loss <= 0.0)
}

/// For each link, whether anything is measured at it.
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

pub(crate) fn rate_process(link: &LinkPlan, inputs: &[Arc<Input>], seed: u64) -> Result<RateProcess, Fault> {
    let result = match &link.rate {
        RatePlan::Unlimited => Ok(RateProcess::Unlimited),
        RatePlan::Constant { bps } => RateProcess::constant(Rate::from_bps(*bps)),
        RatePlan::Steps { steps, repeat_after_ns } => {
            let steps: Arc<[Step]> = steps
                .iter()
                .map(|&(start, rate)| Step { start: Duration::from_nanos(start), rate: Rate::from_bps(rate) })
                .collect();
            let end = repeat_after_ns
                .map_or(ScheduleEnd::Hold, |period| ScheduleEnd::RepeatAfter(Duration::from_nanos(period)));
            Schedule::new(steps, end).map(RateProcess::from)
        }
        RatePlan::Uniform { low_bps, high_bps, hold_ns, initial_bps, stream } => {
            let path = format!("link/{}/rate", stream.as_deref().unwrap_or(&link.name));
            UniformRate::new(
                Rate::from_bps(*low_bps),
                Rate::from_bps(*high_bps),
                Duration::from_nanos(*hold_ns),
                initial_bps.map(Rate::from_bps),
                RandomStream::new(seed, &path),
            )
            .map(RateProcess::from)
        }
        RatePlan::Opportunities { trace, once } | RatePlan::RateLog { trace, once } => {
            match inputs.get(*trace).map(AsRef::as_ref) {
                Some(Input::Opportunities { instants, size }) => {
                    let end = if *once { TraceEnd::Stop } else { TraceEnd::Repeat };
                    Opportunities::new(Arc::clone(instants), *size, end).map(RateProcess::from)
                }
                Some(Input::Rates { steps, length }) => {
                    let end = if *once {
                        ScheduleEnd::StopAfter(*length)
                    } else {
                        ScheduleEnd::RepeatAfter(*length)
                    };
                    Schedule::new(Arc::clone(steps), end).map(RateProcess::from)
                }
                None => return Err(Fault::new("rate", format!("there is no trace number {trace}"))),
            }
        }
    };
    result.map_err(|error| Fault::new("rate", error))
}

fn read_controller(
    flow: &FlowPlan,
    plan: &ControllerPlan,
    components: &Components,
) -> Result<PlannedController, PlanError> {
    PlannedController::new(plan, &components.control)
        .map_err(|error| Fault::in_table("controller", error).of(Part::flow(flow)))
}

/// The flows of one source: one, or for random arrivals as many as arrive.
fn kinds(
    flow: &FlowPlan,
    plan: &Plan,
    seed: u64,
    planned: Option<&PlannedController>,
) -> Result<Vec<(Timestamp, FlowKind)>, PlanError> {
    let observers: Vec<_> = flow
        .estimators
        .iter()
        .map(|&number| (number, plan.estimators[usize::from(number)].estimator))
        .collect();
    let mut controllers = RandomStream::new(seed, &format!("flow/{}/controller", flow.name));
    workloads(flow, Timestamp::from_nanos(plan.duration_ns), seed)
        .into_iter()
        .map(|Workload { start, stop, sending }| {
            let kind = match sending {
                Sending::Files(files) => {
                    connection(flow, planned, observers.clone(), files, start, stop, controllers.split())?
                }
                Sending::Datagrams(datagrams) => FlowKind::Datagrams(Box::new(datagrams)),
            };
            Ok((start, kind))
        })
        .collect()
}

fn connection(
    flow: &FlowPlan,
    planned: Option<&PlannedController>,
    observers: Vec<(u16, AckRatePlan)>,
    files: Files,
    start: Timestamp,
    stop: Timestamp,
    random: RandomStream,
) -> Result<FlowKind, PlanError> {
    let wrong = |fault: Fault| fault.of(Part::flow(flow));
    let (Some(transport), Some(controller)) = (&flow.transport, planned) else {
        return Err(wrong(Fault::new("", "needs a controller and a transport")));
    };
    if let Some(algorithm) = controller.kernel() {
        let problem = format!("kernel:{algorithm} is the kernel's: it runs in the emulator only");
        return Err(wrong(Fault::new("scheme", problem)));
    }
    let setup = ConnectionSetup {
        files,
        sender: sender_config(transport),
        receiver: receiver_config(transport),
        controller: controller.clone(),
        observers,
        random,
        initial_window: Bytes::new(transport.initial_window_bytes),
        header: transport.header_bytes as u32, // checked against the largest packet
        ack_size: transport.ack_bytes as u32,
        start,
        stop,
    };
    let source = ConnectionSource::new(setup).map_err(wrong)?;
    Ok(FlowKind::Connections(Box::new(source)))
}
