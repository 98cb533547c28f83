//! A run: a network, flows, the event loop.

use std::sync::Arc;

use crate::ahead::Sizes;
use crate::assemble::{assemble_flows, assemble_routes};
use crate::check::PlanError;
use crate::control::RunControl;
use crate::event::Target;
use crate::flow::{End, Flow};
use crate::input::Input;
use crate::network::{Driver, Network, Outcome};
use crate::packet::Packet;
use crate::plan::Plan;

/// One run, ready to go.
#[derive(Debug)]
pub struct Simulation {
    /// Its timers are the two ends of each flow: the sender's, then the receiver's.
    network: Network,
    flows: Vec<Flow>,
}

/// How many events pass between two looks at whether somebody wants the run to stop.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 14;

impl Simulation {
    /// Builds a run from a plan, its input traces and a seed.
    ///
    /// # Errors
    /// What in the plan cannot be run.
    pub fn new(plan: &Plan, inputs: &[Arc<Input>], seed: u64) -> Result<Self, PlanError> {
        plan.check(inputs)?;
        let (routes, places) = assemble_routes(plan);
        let (flows, sources) = assemble_flows(plan, &places, seed)?;
        let driver = Driver::Simulation { sizes: Sizes::of(plan), timers: 2 * flows.len() };
        let network = Network::assemble(plan, inputs, seed, routes, &sources, driver)?;
        let mut simulation = Self { network, flows };
        for flow in 0..simulation.flows.len() {
            simulation.schedule_end(flow, End::Sender);
        }
        simulation.network.schedule_clock();
        Ok(simulation)
    }

    /// Runs to the end, or until `control` wants it to stop.
    ///
    /// # Errors
    /// [`Cancelled`] when it was stopped; nothing is handed out then.
    // A name of its own, so that profiles can count from here.
    #[inline(never)]
    pub fn run(mut self, control: &RunControl) -> Result<Outcome, Cancelled> {
        let end = self.network.end;
        while let Some((at, target)) = self.network.events.pop() {
            if at > end {
                break;
            }
            debug_assert!(at >= self.network.now, "time ran back");
            self.network.now = at;
            self.network.counts.events += 1;
            if self.network.counts.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                if control.is_cancelled() {
                    return Err(Cancelled);
                }
                control.report(at, end);
            }
            self.dispatch(target);
        }
        control.report(end, end);
        Ok(self.network.outcome(self.flows.iter().map(Flow::summary)))
    }

    fn dispatch(&mut self, target: Target) {
        let target = target as usize;
        let first_timer = self.network.first_timer();
        if target < first_timer {
            if let Some(packet) = self.network.on_link(target) {
                self.receive(packet);
            }
        } else if target == self.network.clock() {
            let (flows, now) = (&self.flows, self.network.now);
            self.network.end_interval(flows.len(), |flow| flows[flow].state(now));
        } else {
            let flow = (target - first_timer) / 2;
            if (target - first_timer).is_multiple_of(2) {
                self.flows[flow].wake_sender(self.network.now, &mut self.network.recorder);
                self.drive(flow, End::Sender);
            } else {
                self.flows[flow].wake_receiver(self.network.now);
                self.drive(flow, End::Receiver);
            }
        }
    }

    /// A packet reaches the end of its route.
    fn receive(&mut self, mut packet: Packet) {
        let flow = packet.flow as usize;
        let end = self.flows[flow].receive(self.network.now, &mut packet, &mut self.network.recorder);
        self.network.places.take_back(packet);
        self.drive(flow, end);
    }

    /// Sends whatever one end of a flow may send now.
    fn drive(&mut self, flow: usize, end: End) {
        let Self { network, flows } = self;
        let (source, now) = (&mut flows[flow], network.now);
        match end {
            End::Sender => {
                while let Some(packet) = source.poll_data(now, &mut network.recorder, &mut network.places) {
                    network.send(packet);
                }
            }
            End::Receiver => {
                while let Some(packet) = source.poll_acknowledgment(now, &mut network.places) {
                    network.send(packet);
                }
            }
        }
        self.schedule_end(flow, end);
    }

    fn schedule_end(&mut self, flow: usize, end: End) {
        let (offset, at) = match end {
            End::Sender => (0, self.flows[flow].next_sender_event()),
            End::Receiver => (1, self.flows[flow].next_receiver_event()),
        };
        let target = self.network.first_timer() + 2 * flow + offset;
        self.network.events.schedule(target as Target, at.max(self.network.now));
    }
}

/// The run was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was stopped")]
pub struct Cancelled;
