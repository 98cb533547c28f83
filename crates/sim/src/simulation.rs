//! A run: a network, flows, the event loop.

use std::sync::Arc;

use airpath_model::Timestamp;
use airpath_network::{Components, Driver, Network, Outcome, RunControl, assemble_routes, components};
use airpath_plan::{Input, Plan, PlanError};

use crate::build::assemble_flows;
use crate::ends::Flows;
use crate::flow::Flow;

/// A run that is ready to start, or has been advanced to some time.
#[derive(Debug)]
pub struct Simulation {
    /// The network. Its timers are those of the two endpoints of each flow: the sender's, then the
    /// receiver's.
    pub(crate) network: Network,
    pub(crate) flows: Flows,
}

/// The number of events and packets between two checks for a requested stop.
const BETWEEN_LOOKS: u64 = 1 << 14;

impl Simulation {
    /// Builds a run from a plan, its input traces and a seed.
    ///
    /// # Errors
    /// If the plan contains something that cannot be run.
    pub fn new(plan: &Plan, inputs: &[Arc<Input>], seed: u64) -> Result<Self, PlanError> {
        Self::with_components(plan, inputs, seed, components())
    }

    /// Builds a run whose plan may name components outside this source tree.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    // A separate function, so that its instructions can be counted.
    #[inline(never)]
    pub fn with_components(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        components: &Components,
    ) -> Result<Self, PlanError> {
        plan.check()?;
        let (routes, places) = assemble_routes(plan);
        let (mut flows, sources) = assemble_flows(plan, &places, seed, components)?;
        let mut ends: Vec<_> = flows.iter().map(Flow::ends).collect();
        let driver = Driver::Simulation(&mut ends);
        let mut network = Network::assemble(plan, inputs, seed, routes, &sources, driver, components)?;
        flows.iter_mut().zip(ends).for_each(|(flow, ends)| flow.ahead = ends.ahead);
        let mut flows = Flows::new(flows, network.first_timer());
        flows.begin(&mut network);
        network.schedule_clock();
        Ok(Self { network, flows })
    }

    /// Runs to the end, or until `control` requests a stop.
    ///
    /// # Errors
    /// [`Cancelled`] if it was stopped; there are no partial results.
    // A separate function, so that profiles can count from here.
    #[inline(never)]
    pub fn run(mut self, control: &RunControl) -> Result<Outcome, Cancelled> {
        self.advance(Timestamp::NEVER, control)?;
        control.report(self.network.end, self.network.end);
        let outcome = self.network.outcome(self.flows.summaries());
        Ok(Outcome { transmissions: self.flows.into_logs().collect(), ..outcome })
    }

    /// Runs to the end of the first interval of the series that ends at `until` or later, or to the end of
    /// the run.
    #[inline]
    pub(crate) fn advance(&mut self, until: Timestamp, control: &RunControl) -> Result<(), Cancelled> {
        let Self { network, flows } = self;
        let (end, first_timer, clock) = (network.end, network.first_timer(), network.clock());
        let mut next_look = 0;
        while let Some((at, target)) = network.events.pop() {
            if at > end {
                break;
            }
            debug_assert!(at >= network.now, "time ran back");
            network.now = at;
            network.counts.events += 1;
            // Packets are counted too: one event may process very many.
            let done = network.counts.events + network.counts.packets_received;
            if done >= next_look {
                next_look = done + BETWEEN_LOOKS;
                if control.is_cancelled() {
                    return Err(Cancelled);
                }
                control.report(at, end);
            }
            let target = target as usize;
            if target < first_timer {
                network.on_link(target, flows);
            } else if target == clock {
                flows.end_interval(network);
                if at >= until {
                    break;
                }
            } else {
                flows.wake(network, target);
            }
        }
        Ok(())
    }
}

/// The run was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was stopped")]
pub struct Cancelled;
