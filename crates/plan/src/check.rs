//! Checks whether a plan can be run.

use airpath_model::declare::Variants;
use serde::Deserialize;
use serde_json::Value;

use crate::fault::{Fault, Part, PlanError};
use crate::plan::{ControllerPlan, Draw, FlowPlan, LinkPlan, Plan, RatePlan, TrafficPlan};

/// The largest number of targets in a run: links, plus two endpoints for each flow.
pub const MAX_TARGETS: usize = 1 << 24;

/// The field of a plan that every version of the format has.
#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    format: Option<Value>,
}

impl Plan {
    /// Reads a plan from its JSON text.
    ///
    /// # Errors
    /// [`PlanError::Format`] if the plan has another format version than [`Plan::FORMAT`], [`PlanError::Syntax`] if the
    /// text is not a plan.
    pub fn from_json(text: &str) -> Result<Self, PlanError> {
        let syntax = |error: serde_json::Error| PlanError::Syntax(error.to_string());
        // First of all, because another format has other keys.
        let Version { format } = serde_json::from_str(text).map_err(syntax)?;
        if format.as_ref().and_then(Value::as_u64) != Some(Self::FORMAT.into()) {
            return Err(PlanError::Format { found: format.map(|found| found.to_string()) });
        }
        serde_json::from_str(text).map_err(syntax)
    }

    /// Checks everything that does not require building a component.
    ///
    /// # Errors
    /// The first problem that prevents a run.
    pub fn check(&self) -> Result<(), PlanError> {
        self.check_network()?;
        for flow in &self.flows {
            check_traffic(flow, &self.links).map_err(|fault| fault.of(Part::flow(flow)))?;
        }
        Ok(())
    }

    /// Checks everything except the traffic of flows and its control.
    ///
    /// # Errors
    /// The first problem that prevents a run.
    pub fn check_network(&self) -> Result<(), PlanError> {
        self.check_run().map_err(|fault| fault.of(Part::Run))?;
        for link in &self.links {
            check_link(link).map_err(|fault| fault.of(Part::link(link)))?;
        }
        for flow in &self.flows {
            check_route(flow, &self.links, self.estimators.len())
                .map_err(|fault| fault.of(Part::flow(flow)))?;
        }
        Ok(())
    }

    fn check_run(&self) -> Result<(), Fault> {
        let record = &self.record;
        ensure(self.duration_ns > 0, "duration", "accepted: longer than nothing")?;
        ensure(record.interval_ns > 0, "record.interval", "accepted: longer than nothing")?;
        self.whole_intervals(self.duration_ns, "duration")?;
        ensure(
            record.measure_from_ns < self.duration_ns,
            "record.warm_up",
            "accepted: shorter than the run",
        )?;
        self.whole_intervals(record.measure_from_ns, "record.warm_up")?;
        ensure(record.capture.iter().all(|&link| link < self.links.len()), "record.capture", "no such link")?;
        let few = self.links.len() + 2 * self.flows.len() < MAX_TARGETS;
        ensure(few, "", "there are more than 16 million links and flows")?;
        distinct("links", self.links.iter().map(|link| link.name.as_str()))?;
        distinct("estimators", self.estimators.iter().map(|estimator| estimator.name.as_str()))?;
        distinct("flows", self.flows.iter().map(|flow| flow.name.as_str()))
    }

    fn whole_intervals(&self, time_ns: u64, field: &str) -> Result<(), Fault> {
        if time_ns.is_multiple_of(self.record.interval_ns) {
            return Ok(());
        }
        let interval_s = self.record.interval_ns as f64 / 1e9;
        Err(Fault::new(
            field,
            format!("accepted: a whole number of record intervals, which are of {interval_s} s"),
        ))
    }
}

fn check_link(link: &LinkPlan) -> Result<(), Fault> {
    valid(link.delay_ns, "delay")?;
    link.jitter_ns.map_or(Ok(()), |jitter| valid(jitter, "jitter"))?;
    ensure((0.0..=1.0).contains(&link.loss), "loss", "accepted: from 0 to 1")?;
    let one_kind = link.bursts.is_none() || link.loss == 0.0;
    ensure(one_kind, "loss", "losses are independent or in bursts, not both")?;
    let (limit_bytes, limit_packets) = link.queue.limits();
    let one_limit = limit_bytes.is_none() || limit_packets.is_none();
    ensure(one_limit, "queue.limit", "a queue has one limit, not two")
}

fn check_route(flow: &FlowPlan, links: &[LinkPlan], estimators: usize) -> Result<(), Fault> {
    ensure(
        flow.estimators.iter().all(|&number| usize::from(number) < estimators),
        "estimators",
        "runs an estimator that is not there",
    )?;
    let mut once = flow.estimators.clone();
    once.sort_unstable();
    once.dedup();
    ensure(once.len() == flow.estimators.len(), "estimators", "runs the same estimator twice")?;
    ensure(!flow.path.is_empty(), "", "has no link to its receiver")?;
    ensure(
        flow.path.iter().chain(&flow.reverse_path).all(|&link| link < links.len()),
        "",
        "uses a link that is not there",
    )?;
    ensure(flow.path.contains(&flow.measured_at), "measured_at", "is not measured on its own path")?;
    valid(flow.start_ns, "start")?;
    flow.stop_ns.map_or(Ok(()), |stop| valid(stop, "stop"))
}

/// Returns whether a packet spends more than an instant in a link.
fn takes_time(link: &LinkPlan) -> bool {
    !matches!(link.rate, RatePlan::Unlimited)
        || link.delay_ns != Draw::Constant { value: 0.0 }
        || link.jitter_ns.is_some()
}

fn check_traffic(flow: &FlowPlan, links: &[LinkPlan]) -> Result<(), Fault> {
    // Windows would grow without bound at one instant.
    let mut round = flow.path.iter().chain(&flow.reverse_path);
    ensure(
        flow.controller.is_none()
            || flow.reverse_path.is_empty()
            || round.any(|&link| takes_time(&links[link])),
        "",
        "its packets and their answers take no time; accepted: a link with a rate or a delay on their way",
    )?;
    flow.traffic.check().map_err(|error| Fault::in_table("traffic", error))?;
    let datagrams = match &flow.traffic {
        TrafficPlan::Bulk => false,
        TrafficPlan::File { bytes } => {
            ensure(*bytes > 0, "traffic.size", "accepted: at least one byte")?;
            false
        }
        TrafficPlan::Repeated { bytes, pause_ns } => {
            valid(*bytes, "traffic.size")?;
            valid(*pause_ns, "traffic.pause")?;
            false
        }
        TrafficPlan::Writes { bytes, interval_ns } => {
            valid(*bytes, "traffic.size")?;
            valid(*interval_ns, "traffic.interval")?;
            ensure(passes(*interval_ns), "traffic.interval", "accepted: always more than 0 s")?;
            false
        }
        TrafficPlan::Arrivals { bytes, mean_interval_ns } => {
            valid(*bytes, "traffic.size")?;
            ensure(
                mean_interval_ns.is_finite() && *mean_interval_ns >= 1.0,
                "traffic.mean_interval",
                "accepted: at least 1 ns",
            )?;
            false
        }
        TrafficPlan::ConstantBitRate { bps, packet_bytes, on_ns, off_ns, .. } => {
            ensure(*bps > 0, "traffic.rate", "accepted: more than zero")?;
            ensure((1..=MAX_PACKET).contains(packet_bytes), "traffic.packet", PACKET_SIZES)?;
            ensure(apart(*bps, *packet_bytes as f64), "traffic.rate", TOO_CLOSE)?;
            for (period, field) in [(on_ns, "traffic.on"), (off_ns, "traffic.off")] {
                period.map_or(Ok(()), |period| valid(period, field))?;
            }
            ensure(on_ns.is_none_or(passes), "traffic.on", "accepted: always longer than nothing")?;
            true
        }
        TrafficPlan::PoissonDatagrams { bps, packet_bytes } => {
            valid(*packet_bytes, "traffic.packet")?;
            ensure(*bps > 0, "traffic.rate", "accepted: more than zero")?;
            let (mean, largest) = match *packet_bytes {
                Draw::Constant { value } => (value, value),
                Draw::Uniform { low, high } => (f64::midpoint(low, high), high),
                Draw::Exponential { mean } => (mean, mean),
            };
            ensure(largest <= MAX_PACKET as f64, "traffic.packet", PACKET_SIZES)?;
            ensure(apart(*bps, mean), "traffic.rate", TOO_CLOSE)?;
            true
        }
    };
    if datagrams {
        return ensure(
            flow.controller.is_none() && flow.transport.is_none() && flow.estimators.is_empty(),
            "",
            "datagrams have no controller, transport or estimators",
        );
    }
    ensure(!flow.reverse_path.is_empty(), "", "has no link for its acknowledgments")?;
    let transport = flow.transport.as_ref().filter(|_| flow.controller.is_some());
    let Some(transport) = transport else {
        return ensure(false, "", "needs a controller and a transport");
    };
    let unlimited = |link: &usize| links[*link].rate == RatePlan::Unlimited;
    ensure(
        flow.traffic != TrafficPlan::Bulk
            || transport.receive_window_bytes != u64::MAX
            || flow.controller.as_ref().is_some_and(ControllerPlan::has_fixed_window)
            || !flow.path.iter().all(unlimited),
        "",
        "nothing limits it: give a link on its path a rate, or the transport a receive window",
    )?;
    let fits = |size: u64| (1..=MAX_PACKET).contains(&size);
    ensure(
        fits(transport.mss_bytes.saturating_add(transport.header_bytes)),
        "transport.mss",
        "accepted: packets from 1 byte to 16 MB, headers included",
    )?;
    ensure(fits(transport.ack_bytes), "transport.ack", PACKET_SIZES)
}

fn valid(draw: Draw, field: &str) -> Result<(), Fault> {
    ensure(draw.is_valid(), field, "accepted: a number from zero up, low not above high")
}

/// Returns whether time passes in every period of that length.
fn passes(period: Draw) -> bool {
    period.low() > 0.0 || matches!(period, Draw::Exponential { mean } if mean > 0.0)
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Fault> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Fault::new(what, format!("the name {:?} stands twice", pair[0]))),
        None => Ok(()),
    }
}

fn ensure(condition: bool, field: &str, problem: &str) -> Result<(), Fault> {
    if condition { Ok(()) } else { Err(Fault::new(field, problem)) }
}

/// Returns whether datagrams of that size and rate are at least a nanosecond apart on average.
fn apart(bps: u64, bytes: f64) -> bool {
    bytes * 8e9 >= bps as f64
}

const TOO_CLOSE: &str =
    "at that rate its packets are less than a nanosecond apart; accepted: a lower rate, or larger packets";
const PACKET_SIZES: &str = "accepted: from 1 byte to 16 MB";

/// Largest packet on the wire, bytes: sizes are stored in 32 bits with ample margin.
const MAX_PACKET: u64 = 16_000_000;
