//! A network whose packets the caller sends, keeps and receives, such as an emulator with real packets and a
//! real clock.

mod limits;
mod outside;

use std::sync::Arc;

use airpath_model::{Bytes, Damage, Duration, Probe, Timestamp};
use airpath_plan::{Input, Plan, PlanError};

use crate::event::Entry;
use crate::external_packet::{Captured, Delivery, Direction, ExternalPacket, Lost};
use crate::link::AnyLink;
use crate::network::{Driver, Ends, Network, Outcome};
use crate::packet::{Body, Contents, External, Packet};
use crate::record::{FlowState, FlowSummary};
use crate::routes::{FlowRoutes, assemble_routes};
use crate::{Components, components};
pub use limits::LimitedTimes;

/// The network of a plan, for packets of the caller.
///
/// Queues, channels and records are those of a simulation. Each flow of the plan is one flow, of which only
/// the routes and the measuring link are used; its traffic, controller and transport are ignored.
#[derive(Debug)]
pub struct ExternalNetwork {
    network: Network,
    flows: Vec<ExternalFlow>,
    /// Whether the tables contain the limits of senders.
    keep_limits: bool,
}

/// A flow whose endpoints belong to the caller, with their last reported state.
#[derive(Clone, Copy, Debug)]
struct ExternalFlow {
    routes: FlowRoutes,
    state: FlowState,
    counted: FlowSummary,
    limited: LimitedTimes,
    /// The part of `limited` that is in rows of the tables.
    recorded: LimitedTimes,
}

impl ExternalFlow {
    const fn new(routes: FlowRoutes) -> Self {
        Self {
            routes,
            state: FlowState::unknown(false),
            counted: FlowSummary::begun(Timestamp::NEVER),
            limited: LimitedTimes::NONE,
            recorded: LimitedTimes::NONE,
        }
    }
}

impl ExternalNetwork {
    /// Builds the network of a plan.
    ///
    /// # Errors
    /// The first thing in the plan that cannot be run.
    pub fn new(plan: &Plan, inputs: &[Arc<Input>], seed: u64) -> Result<Self, PlanError> {
        Self::with_components(plan, inputs, seed, components())
    }

    /// Builds the network of a plan that may name components outside this source tree.
    ///
    /// # Errors
    /// As [`ExternalNetwork::new`].
    pub fn with_components(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        components: &Components,
    ) -> Result<Self, PlanError> {
        Self::build(plan, inputs, seed, &[], components)
    }

    /// Builds the network of a plan in which the caller keeps the queues of the links `outside`
    /// ([`ExternalNetwork::next_out`]).
    ///
    /// # Errors
    /// As [`ExternalNetwork::new`].
    pub fn with_outside(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        outside: &[usize],
    ) -> Result<Self, PlanError> {
        Self::build(plan, inputs, seed, outside, components())
    }

    fn build(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        outside: &[usize],
        components: &Components,
    ) -> Result<Self, PlanError> {
        plan.check_network()?;
        let (routes, places) = assemble_routes(plan);
        let sources: Vec<u32> = (0..plan.flows.len() as u32).collect();
        let driver = Driver::External { outside };
        let mut network = Network::assemble(plan, inputs, seed, routes, &sources, driver, components)?;
        network.schedule_clock();
        let flows = places.into_iter().map(ExternalFlow::new).collect();
        Ok(Self { network, flows, keep_limits: plan.record.flow_limits })
    }

    /// Adds a flow with the routes and the measuring link of a flow of the plan, and returns its index. In
    /// the tables it is a separate source.
    ///
    /// # Panics
    /// If the plan has no such flow.
    pub fn add_flow(&mut self, like: u32) -> u32 {
        let ExternalFlow { routes, .. } = self.flows[like as usize];
        self.flows.push(ExternalFlow::new(routes));
        self.network.context.recorder.add_flow(like)
    }

    /// Returns the time of the next event inside the network, for which [`ExternalNetwork::advance`] must be called;
    /// [`Timestamp::NEVER`] if there is none before the end of the run.
    pub fn next_event(&mut self) -> Timestamp {
        let at = self.network.events.next_time();
        if at > self.network.end { Timestamp::NEVER } else { at }
    }

    /// Returns the time up to which the network has advanced.
    pub const fn now(&self) -> Timestamp {
        self.network.now
    }

    /// Returns the end of the run: the plan's duration.
    pub fn end(&self) -> Timestamp {
        self.network.end
    }

    /// Returns the end of the warm-up.
    pub fn measure_from(&self) -> Timestamp {
        self.network.measure_from
    }

    /// Sends a packet into the first link of its route at `now`, up to which [`ExternalNetwork::advance`]
    /// must have been called. A packet later than the end of the run, or earlier than the last call, counts
    /// as of the last call.
    ///
    /// # Panics
    /// If the plan has no such flow, or the flow no route in that direction.
    pub fn inject(&mut self, now: Timestamp, packet: ExternalPacket) {
        let routes = self.flows[packet.flow as usize].routes;
        let network = &mut self.network;
        network.now = network.now.max(now.min(network.end));
        network.events.all_over(network.now);
        let (hop, is_data) = match packet.direction {
            Direction::Forward => (routes.forward, true),
            Direction::Back => (routes.back, false),
        };
        if is_data {
            network.context.recorder.on_sent(packet.flow, u64::from(packet.size));
        }
        let packet = network.context.pool.packet(Contents {
            flow: packet.flow,
            connection: 0,
            hop,
            size: packet.size,
            enqueued_at: network.now,
            queueing: Duration::ZERO,
            body: Body::External(External {
                handle: packet.handle,
                is_data,
                ecn: packet.ecn,
                sent_at: network.now,
                path: packet.path,
            }),
        });
        network.send(network.events.current(), packet);
    }

    /// Advances the network to `until`, but not beyond the end of the run. Calls `deliver` for each packet
    /// that reaches the end of its route, in the order of time.
    pub fn advance(&mut self, until: Timestamp, deliver: &mut impl FnMut(Delivery)) {
        let Self { network, flows, keep_limits } = self;
        let until = until.min(network.end);
        while network.events.next_time() <= until {
            let Some((at, target)) = network.events.pop() else { break };
            network.now = network.now.max(at);
            network.counts.events += 1;
            if target as usize == network.clock() {
                network.end_interval(flows.len(), |flow| flows[flow].state, |flow| flows[flow].counted);
                if *keep_limits {
                    for (flow, times) in (0..).zip(flows.iter_mut().map(ExternalFlow::take_limits)) {
                        network.context.recorder.on_limits(flow, network.now, &times);
                    }
                }
            } else {
                network.on_link(target as usize, &mut CallerEnds { deliver });
            }
        }
        network.now = network.now.max(until);
        network.events.all_over(network.now);
    }

    /// Returns the packets that were lost since the last call. These include corrupted packets once their
    /// last bit has left.
    pub fn lost(&mut self) -> impl Iterator<Item = Lost> {
        let lost = |(flow, packet): (u32, External)| Lost {
            flow,
            direction: Direction::of(&packet),
            handle: packet.handle,
        };
        self.network.context.recorder.lost_external().map(lost)
    }

    /// Returns the packets that arrived at the entrances of captured links since the last call, in the order
    /// of time. They include packets that were delivered or lost in the meantime.
    pub fn captured(&mut self) -> impl Iterator<Item = Captured> {
        self.network.context.recorder.captured_external()
    }

    /// Returns the corruption by a link's channel so far and its expectation, retransmissions of the link
    /// included; `None` if the channel corrupts nothing.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn damage(&self, link: usize) -> Option<Damage> {
        match &self.network.links[link] {
            AnyLink::Full(link) => link.damage(),
            AnyLink::Plain(_) => None,
        }
    }

    /// Returns the number of packets inside links: waiting, being sent, or in flight.
    pub fn packets_inside(&self) -> u64 {
        self.network.links.iter().map(AnyLink::packets_inside).sum()
    }

    /// Sets the state of a flow's endpoints, for its rows in the series. Before the first call the flow is
    /// not active.
    ///
    /// # Panics
    /// If the plan has no such flow, as in the following methods.
    pub fn set_flow_state(&mut self, flow: u32, state: FlowState) {
        self.flows[flow as usize].state = state;
    }

    /// Sets the counters of a flow's endpoints since its start. The tables exclude the counts that were last
    /// set before the end of the warm-up.
    pub fn set_flow_summary(&mut self, flow: u32, counted: FlowSummary) {
        self.flows[flow as usize].counted = counted;
    }

    /// Sets what has limited the sender of a flow since its start, for the table `flow_limits`.
    pub fn set_limited_times(&mut self, flow: u32, times: LimitedTimes) {
        self.flows[flow as usize].limited = times;
    }

    /// Records that the receiver of a flow passed `bytes` to its application.
    pub fn on_goodput(&mut self, flow: u32, bytes: u64) {
        self.network.context.recorder.on_goodput(flow, bytes);
    }

    /// Records a complete transfer of a flow. Transfers of a flow are numbered from zero.
    pub fn on_completion(&mut self, flow: u32, transfer: u32, start: Timestamp, end: Timestamp, size: Bytes) {
        self.network.context.recorder.on_completion(flow, transfer, start, end, size);
    }

    /// Returns the probe to which the algorithms of a flow report congestion events, estimates and named quantities.
    pub fn probe(&mut self, flow: u32) -> impl Probe {
        self.network.context.recorder.probe(flow)
    }

    /// Returns the tables, up to the end of the last interval. `flows` contains a summary for each flow of
    /// the plan, in its order, and then for each added flow.
    ///
    /// # Panics
    /// If there are more or fewer summaries than flows.
    pub fn finish(self, flows: &[FlowSummary]) -> Outcome {
        assert_eq!(flows.len(), self.flows.len(), "one summary for each flow");
        let mut network = self.network;
        // The caller may stop before the end of the plan: packets announced for later never arrive.
        network.end = network.now;
        Outcome { capture: None, ..network.outcome(flows.iter().copied()) }
    }
}

/// The endpoints of all flows: the caller, which receives each packet at its time.
struct CallerEnds<'a, Deliver> {
    deliver: &'a mut Deliver,
}

impl<Deliver: FnMut(Delivery)> Ends for CallerEnds<'_, Deliver> {
    fn idle_until(&self, _packet: &Packet) -> Timestamp {
        Timestamp::ZERO
    }

    fn prefetch_flow(&self, _packet: &Packet) {}

    fn prefetch_end(&self, _packet: &Packet) {}

    fn receive(&mut self, network: &mut Network, _event: Entry, packet: Packet) {
        if let (Some(external), &Body::External(External { sent_at, .. })) =
            (ExternalPacket::of(&packet), &packet.body)
        {
            if external.direction == Direction::Forward {
                network.context.recorder.on_received(network.now, sent_at, &packet, 0);
            }
            (self.deliver)(Delivery { at: network.now, packet: external });
        }
        network.context.pool.take_back(packet);
    }
}
