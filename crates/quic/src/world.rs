//! Complete scenarios over quinn: its endpoints at both ends of the simulator's network, in simulated time.
//!
//! Everything in quinn except cryptography runs as in a program: connections with handshakes, streams, flow
//! control, acknowledgments, loss detection, pacing. The sizes and the times of transfers come from the same
//! random streams as in a simulation. Quinn has separate random streams, so a run is a function of plan and
//! seed.

mod exchange;
mod host;
mod plaintext;
mod settings;
mod slots;
mod source;
mod wakeups;

use std::sync::Arc;

use airpath_model::{RandomStream, Timestamp};
use airpath_network::{Components, ExternalNetwork, Outcome, RunControl, components, logged_flows};
use airpath_plan::workload::{Sending, workloads};
use airpath_plan::{Fault, FlowPlan, Input, Part, Plan, PlanError};

use exchange::Exchange;
use settings::FlowSettings;
use source::{FileSource, Kind, Source};

/// Number of steps between two checks whether the run should stop.
const BETWEEN_LOOKS: u32 = 1 << 10;

/// A run that is ready to start.
pub struct QuicRun {
    exchange: Exchange,
    end: Timestamp,
}

/// Why a run has no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It was stopped before its end.
    #[error("the run was cancelled")]
    Cancelled,
    /// A connection ended in a way that its flow did not request.
    #[error("flow {flow}: a connection broke: {reason}")]
    Broken {
        /// The flow's name.
        flow: String,
        /// The error of the stack.
        reason: String,
    },
}

impl QuicRun {
    /// Builds a run from a plan, its input traces and a seed.
    ///
    /// # Errors
    /// If the plan cannot be run, or not over QUIC.
    pub fn new(plan: &Plan, inputs: &[Arc<Input>], seed: u64) -> Result<Self, PlanError> {
        Self::with_components(plan, inputs, seed, components())
    }

    /// Builds a run whose plan may name components that are not part of this source tree.
    ///
    /// # Errors
    /// As [`QuicRun::new`].
    pub fn with_components(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        components: &Components,
    ) -> Result<Self, PlanError> {
        plan.check()?;
        if !plan.record.capture.is_empty() {
            return Err(
                Fault::new("record.capture", "captures are of TCP; over QUIC there are none").of(Part::Run)
            );
        }
        let network = ExternalNetwork::with_components(plan, inputs, seed, components)?;
        let end = network.end();
        let mut sources = Vec::new();
        for (flow, planned) in plan.flows.iter().enumerate() {
            sources.extend(sources_of(flow, planned, end, seed, components)?);
        }
        let names = plan.flows.iter().map(|flow| flow.name.clone()).collect();
        let mut exchange = Exchange::new(network, sources, names, seed);
        if plan.record.qlog {
            exchange
                .keep_packets(&logged_flows(plan.flows.iter().map(|flow| (flow.controller.is_some(), 0))));
        }
        Ok(Self { exchange, end })
    }

    /// Runs to the end, or until `control` stops it.
    ///
    /// # Errors
    /// If it was stopped, or if a connection broke; there are no results then.
    pub fn run(self, control: &RunControl) -> Result<Outcome, RunError> {
        let Self { mut exchange, end } = self;
        let mut steps = 0_u32;
        loop {
            let next = exchange.next_event();
            if next >= end {
                break;
            }
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(BETWEEN_LOOKS) {
                if control.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                control.report(next, end);
            }
            exchange.step(next);
        }
        exchange.step(end);
        control.report(end, end);
        exchange.finish()
    }
}

/// Returns the sources of one flow of the plan: one, or for random arrivals one for each arrival.
fn sources_of(
    flow: usize,
    planned: &FlowPlan,
    end: Timestamp,
    seed: u64,
    components: &Components,
) -> Result<Vec<Source>, PlanError> {
    let mut controllers = RandomStream::new(seed, &format!("flow/{}/controller", planned.name));
    let settings = planned.controller.is_some().then(|| FlowSettings::of(planned, components)).transpose()?;
    let sources = workloads(planned, end, seed).into_iter().filter_map(|workload| {
        let (start, stop) = (workload.start, workload.stop);
        let kind = match workload.sending {
            Sending::Datagrams(datagrams) => Kind::Datagrams(datagrams),
            Sending::Files(files) => {
                let settings = settings.clone()?; // a checked plan has a controller here
                Kind::Files(FileSource::new(files, settings, controllers.split(), (start, stop)))
            }
        };
        Some(Source { flow, start, stop, kind })
    });
    Ok(sources.collect())
}

#[cfg(test)]
mod tests;
