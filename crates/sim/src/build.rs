//! Construction of flows from a plan.

mod transport;

use std::sync::Arc;

use airpath_estimate::declare::AckRates;
use airpath_model::declare::Factory;
use airpath_model::{Bytes, RandomStream, Timestamp};
use airpath_network::{Components, FlowRoutes, logged_flows};
use airpath_plan::workload::{Files, Sending, Workload, workloads};
use airpath_plan::{
    ControllerPlan, EstimatorPlan, Fault, FlowPlan, Part, Plan, PlanError, PlannedController,
};

use crate::flow::{ConnectionSetup, ConnectionSource, Flow, FlowKind};
use crate::observers::PlannedEstimator;
use transport::{receiver_config, sender_config};

/// Returns the flows of a checked plan, each with its flow in the plan. Every random component gets a
/// separate stream, named by its path.
pub(crate) fn assemble_flows(
    plan: &Plan,
    routes: &[FlowRoutes],
    seed: u64,
    components: &Components,
) -> Result<(Vec<Flow>, Vec<u32>), PlanError> {
    let estimators = read_estimators(plan, components)?;
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
        for (instance, (start, kind)) in (0..).zip(kinds(flow, plan, seed, planned, &estimators)?) {
            let (index, route, reverse_route) = (flows.len() as u32, routes.forward, routes.back);
            flows.push(Flow::new(index, instance, [route, reverse_route], start, kind));
            sources.push(source);
        }
    }
    if plan.record.qlog {
        keep_logs(&mut flows);
    }
    if plan.record.flow_limits {
        flows.iter_mut().for_each(Flow::measure_limits);
    }
    Ok((flows, sources))
}

/// Enables logs for as many flows as may have one.
fn keep_logs(flows: &mut [Flow]) {
    let is_reliable = |flow: &Flow| matches!(flow.kind, FlowKind::Connections(_));
    let chosen = logged_flows(flows.iter().map(|flow| (is_reliable(flow), flow.instance)));
    let count = chosen.iter().filter(|chosen| **chosen).count();
    flows.iter_mut().zip(chosen).filter(|(_, chosen)| *chosen).for_each(|(flow, _)| flow.keep_log(count));
}

fn read_controller(
    flow: &FlowPlan,
    plan: &ControllerPlan,
    components: &Components,
) -> Result<PlannedController, PlanError> {
    PlannedController::new(plan, &components.control)
        .map_err(|error| Fault::in_table("controller", error).of(Part::flow(flow)))
}

/// Reads the estimators of a plan. An error names the first flow that runs the estimator.
fn read_estimators(
    plan: &Plan,
    components: &Components,
) -> Result<Vec<Arc<dyn Factory<AckRates>>>, PlanError> {
    let read = |(number, one): (u16, &EstimatorPlan)| {
        components.control.ack_rates.read(&one.estimator, &()).map_err(|error| {
            let flow = plan.flows.iter().find(|flow| flow.estimators.contains(&number));
            Fault::in_table("estimators", error).of(flow.map_or(Part::Run, Part::flow))
        })
    };
    (0..).zip(&plan.estimators).map(read).collect()
}

/// Returns the flows of one source: one, or for random arrivals the number that arrives.
fn kinds(
    flow: &FlowPlan,
    plan: &Plan,
    seed: u64,
    planned: Option<&PlannedController>,
    estimators: &[Arc<dyn Factory<AckRates>>],
) -> Result<Vec<(Timestamp, FlowKind)>, PlanError> {
    let observers: Vec<_> = flow
        .estimators
        .iter()
        .map(|&number| (number, Arc::clone(&estimators[usize::from(number)])))
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
    observers: Vec<PlannedEstimator>,
    files: Files,
    start: Timestamp,
    stop: Timestamp,
    random: RandomStream,
) -> Result<FlowKind, PlanError> {
    let wrong = |fault: Fault| fault.of(Part::flow(flow));
    let (Some(transport), Some(controller)) = (&flow.transport, planned) else {
        return Err(wrong(Fault::new("", "needs a controller and a transport")));
    };
    if let Some(problem) = controller.not_simulated() {
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
        header: transport.header_bytes as u32, // checked to be at most the largest packet
        ack_size: transport.ack_bytes as u32,
        start,
        stop,
    };
    let source = ConnectionSource::new(setup).map_err(wrong)?;
    Ok(FlowKind::Connections(Box::new(source)))
}
