//! What makes a plan runnable.

use std::sync::Arc;

use crate::event::MAX_TARGETS;
use crate::input::Input;
use crate::plan::{
    AckRatePlan, ControllerPlan, Draw, FlowPlan, LinkPlan, Plan, QueuePlan, RatePlan, TrafficPlan,
};

/// What in a plan cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text is not a plan.
    #[error("not a plan: {0}")]
    Syntax(String),
    /// A value that makes no sense.
    #[error("{place}: {problem}")]
    Value {
        /// Which link, flow or field.
        place: String,
        /// What is wrong and what is accepted.
        problem: String,
    },
}

impl AckRatePlan {
    /// Reads an estimator from the JSON text that stands for it in a plan.
    ///
    /// # Errors
    /// Where the text is no estimator.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        serde_json::from_str(text).map_err(|error| PlanError::Syntax(error.to_string()))
    }
}

impl Plan {
    /// Reads a plan from its JSON text.
    ///
    /// # Errors
    /// Where the text is not a plan.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        serde_json::from_str(text).map_err(|error| PlanError::Syntax(error.to_string()))
    }

    /// Checks everything that does not need a component to be built.
    ///
    /// # Errors
    /// The first thing that cannot be run.
    pub fn check(&self, inputs: &[Arc<Input>]) -> Result<(), PlanError> {
        self.check_network(inputs)?;
        self.flows.iter().try_for_each(|flow| check_traffic(flow, &self.links))
    }

    /// Checks all but what flows send and how.
    pub(crate) fn check_network(&self, inputs: &[Arc<Input>]) -> Result<(), PlanError> {
        let record = &self.record;
        ensure(self.duration_ns > 0, "duration", "must be longer than nothing")?;
        ensure(record.interval_ns > 0, "record.interval", "must be longer than nothing")?;
        ensure(
            self.duration_ns.is_multiple_of(record.interval_ns),
            "duration",
            "must be a whole number of record intervals",
        )?;
        ensure(record.measure_from_ns < self.duration_ns, "record.warm_up", "must end before the run does")?;
        ensure(
            record.measure_from_ns.is_multiple_of(record.interval_ns),
            "record.warm_up",
            "must be a whole number of record intervals",
        )?;
        ensure(record.capture.iter().all(|&link| link < self.links.len()), "record.capture", "no such link")?;
        ensure(
            self.links.len() + 2 * self.flows.len() < MAX_TARGETS,
            "links and flows",
            "are more than 16 million",
        )?;
        distinct("links", self.links.iter().map(|link| link.name.as_str()))?;
        distinct("estimators", self.estimators.iter().map(|estimator| estimator.name.as_str()))?;
        distinct("flows", self.flows.iter().map(|flow| flow.name.as_str()))?;
        self.links.iter().try_for_each(|link| check_link(link, inputs, self.flows.len()))?;
        self.flows.iter().try_for_each(|flow| check_route(flow, &self.links, self.estimators.len()))
    }
}

fn check_link(link: &LinkPlan, inputs: &[Arc<Input>], flows: usize) -> Result<(), PlanError> {
    let place = format!("link {}", link.name);
    valid(link.delay_ns, &place, "delay")?;
    link.jitter_ns.map_or(Ok(()), |jitter| valid(jitter, &place, "jitter"))?;
    ensure((0.0..=1.0).contains(&link.loss), &place, "loss must be from 0 to 1")?;
    ensure(
        link.bursts.is_none() || link.loss == 0.0,
        &place,
        "losses are independent or in bursts, not both",
    )?;
    let (limit_bytes, limit_packets) = link.queue.limits();
    ensure(limit_bytes.is_none() || limit_packets.is_none(), &place, "a queue has one limit, not two")?;
    if let QueuePlan::Managed { management, .. } = &link.queue
        && let Some((class_of_flow, classes)) = management.classes()
    {
        ensure(
            class_of_flow.len() == flows && class_of_flow.iter().all(|&class| (class as usize) < classes),
            &place,
            "its queue has one class for each flow, of those that there are",
        )?;
    }
    match link.rate {
        RatePlan::Opportunities { trace, .. } => ensure(
            matches!(inputs.get(trace).map(AsRef::as_ref), Some(Input::Opportunities { .. })),
            &place,
            "its trace is not one of packet-delivery opportunities",
        ),
        RatePlan::RateLog { trace, .. } => ensure(
            matches!(inputs.get(trace).map(AsRef::as_ref), Some(Input::Rates { .. })),
            &place,
            "its trace is not a rate log",
        ),
        _ => Ok(()),
    }
}

fn check_route(flow: &FlowPlan, links: &[LinkPlan], estimators: usize) -> Result<(), PlanError> {
    let place = format!("flow {}", flow.name);
    ensure(
        flow.estimators.iter().all(|&number| usize::from(number) < estimators),
        &place,
        "runs an estimator that is not there",
    )?;
    let mut once = flow.estimators.clone();
    once.sort_unstable();
    once.dedup();
    ensure(once.len() == flow.estimators.len(), &place, "runs the same estimator twice")?;
    ensure(!flow.path.is_empty(), &place, "has no link to its receiver")?;
    ensure(
        flow.path.iter().chain(&flow.reverse_path).all(|&link| link < links.len()),
        &place,
        "uses a link that is not there",
    )?;
    ensure(flow.path.contains(&flow.measured_at), &place, "is not measured on its own path")?;
    valid(flow.start_ns, &place, "start")?;
    flow.stop_ns.map_or(Ok(()), |stop| valid(stop, &place, "stop"))
}

fn check_traffic(flow: &FlowPlan, links: &[LinkPlan]) -> Result<(), PlanError> {
    let place = format!("flow {}", flow.name);
    let datagrams = match &flow.traffic {
        TrafficPlan::Bulk => false,
        TrafficPlan::File { bytes } => {
            ensure(*bytes > 0, &place, "a file has at least one byte")?;
            false
        }
        TrafficPlan::Repeated { bytes, pause_ns } => {
            valid(*bytes, &place, "size")?;
            valid(*pause_ns, &place, "pause")?;
            false
        }
        TrafficPlan::Arrivals { bytes, mean_interval_ns } => {
            valid(*bytes, &place, "size")?;
            ensure(
                mean_interval_ns.is_finite() && *mean_interval_ns >= 1.0,
                &place,
                "the mean interval between arrivals must be at least 1 ns",
            )?;
            false
        }
        TrafficPlan::ConstantBitRate { bps, packet_bytes, on_ns, off_ns, .. } => {
            ensure(
                *bps > 0 && (1..=MAX_PACKET).contains(packet_bytes),
                &place,
                "rate and packet size must be positive",
            )?;
            ensure(apart(*bps, *packet_bytes as f64), &place, TOO_CLOSE)?;
            ensure(on_ns.is_some() == off_ns.is_some(), &place, "give both on and off periods, or neither")?;
            for period in [on_ns, off_ns].into_iter().flatten() {
                valid(*period, &place, "on and off periods")?;
            }
            ensure(
                on_ns.is_none_or(|on| {
                    on.low() > 0.0 || matches!(on, Draw::Exponential { mean } if mean > 0.0)
                }),
                &place,
                "an on period must be longer than nothing",
            )?;
            true
        }
        TrafficPlan::PoissonDatagrams { bps, packet_bytes } => {
            valid(*packet_bytes, &place, "packet size")?;
            ensure(*bps > 0, &place, "the rate must be positive")?;
            let (mean, largest) = match *packet_bytes {
                Draw::Constant { value } => (value, value),
                Draw::Uniform { low, high } => (f64::midpoint(low, high), high),
                Draw::Exponential { mean } => (mean, mean),
            };
            ensure(largest <= MAX_PACKET as f64, &place, "packets are from 1 byte to 16 MB")?;
            ensure(apart(*bps, mean), &place, TOO_CLOSE)?;
            true
        }
    };
    if datagrams {
        return ensure(
            flow.controller.is_none() && flow.transport.is_none() && flow.estimators.is_empty(),
            &place,
            "datagrams have no controller, transport or estimators",
        );
    }
    ensure(!flow.reverse_path.is_empty(), &place, "has no link for its acknowledgments")?;
    let transport = flow.transport.as_ref().filter(|_| flow.controller.is_some());
    let Some(transport) = transport else {
        return ensure(false, &place, "needs a controller and a transport");
    };
    let unlimited = |link: &usize| links[*link].rate == RatePlan::Unlimited;
    ensure(
        flow.traffic != TrafficPlan::Bulk
            || transport.receive_window_bytes != u64::MAX
            || matches!(flow.controller, Some(ControllerPlan::Fixed { .. }))
            || !flow.path.iter().all(unlimited),
        &place,
        "nothing limits it: give a link on its path a rate, or the transport a receive window",
    )?;
    ensure(
        (1..=MAX_PACKET).contains(&transport.mss_bytes.saturating_add(transport.header_bytes))
            && (1..=MAX_PACKET).contains(&transport.ack_bytes),
        &place,
        "packets are from 1 byte to 16 MB",
    )
}

fn valid(draw: Draw, place: &str, what: &str) -> Result<(), PlanError> {
    ensure(draw.is_valid(), place, &format!("{what} must be a number from zero up, low not above high"))
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), PlanError> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => ensure(false, what, &format!("the name {:?} stands twice", pair[0])),
        None => Ok(()),
    }
}

fn ensure(condition: bool, place: &str, problem: &str) -> Result<(), PlanError> {
    if condition {
        Ok(())
    } else {
        Err(PlanError::Value { place: place.to_owned(), problem: problem.to_owned() })
    }
}

/// Whether datagrams of that size are at least a nanosecond apart at that rate, in the mean.
fn apart(bps: u64, bytes: f64) -> bool {
    bytes * 8e9 >= bps as f64
}

const TOO_CLOSE: &str =
    "at that rate its packets are less than a nanosecond apart: a lower rate or larger packets are accepted";

/// Largest packet on the wire, bytes: sizes are kept in 32 bits with room to spare.
const MAX_PACKET: u64 = 16_000_000;
