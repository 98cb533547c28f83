//! A network whose packets somebody else sends, keeps and receives: an emulator with real packets and a real clock.

use std::sync::Arc;

use airpath_model::{Bytes, Damage, Duration, Ecn, PathHeader, Probe, Timestamp};

use super::{Driver, Ends, FlowState, FlowSummary, Network, Outcome};
use crate::any_link::AnyLink;
use crate::assemble::{FlowRoutes, assemble_routes};
use crate::components::components;
use crate::event::Entry;
use crate::fault::PlanError;
use crate::input::Input;
use crate::packet::{Body, Contents, Foreign, Packet};
use crate::plan::Plan;
use crate::record::CompletionRow;

/// Which of a flow's two routes a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the flow's sender to its receiver; such packets count as data.
    Forward,
    /// From its receiver to its sender.
    Back,
}

/// A packet that enters the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForeignPacket {
    /// The number of its flow in the plan.
    pub flow: u32,
    /// Which way it goes.
    pub direction: Direction,
    /// Its size on the wire, at most 16 MB.
    pub size: u32,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// What it says to routers.
    pub path: PathHeader,
    /// By which its owner knows it; the network only hands it back.
    pub handle: u32,
}

/// A packet at the end of its route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// When its last bit arrived.
    pub at: Timestamp,
    /// The packet, with its ECN field and header as routers left them.
    pub packet: ForeignPacket,
}

/// A packet that the network lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The number of its flow in the plan.
    pub flow: u32,
    /// Which way it went.
    pub direction: Direction,
    /// By which its owner knows it.
    pub handle: u32,
}

/// A packet that comes to the entrance of a captured link (`record.capture`), before the queue takes or drops it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When.
    pub at: Timestamp,
    /// The number of the link in the plan.
    pub link: u32,
    /// The packet, with its ECN field and header as the routers before left them.
    pub packet: ForeignPacket,
}

impl ForeignPacket {
    /// What its owner knows a packet by; `None` for one that is kept here.
    pub(crate) fn of(packet: &Packet) -> Option<Self> {
        let Body::Foreign(Foreign { handle, is_data, ecn, path, .. }) = packet.body else { return None };
        let Contents { flow, size, .. } = **packet;
        Some(Self { flow, direction: direction(is_data), size, ecn, path, handle })
    }
}

/// A flow whose ends are elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForeignFlow {
    routes: FlowRoutes,
    state: FlowState,
    counted: FlowSummary,
}

impl ForeignFlow {
    /// A flow of which only its routes are known.
    const fn new(routes: FlowRoutes) -> Self {
        Self { routes, state: FlowState::unknown(false), counted: FlowSummary::begun(Timestamp::NEVER) }
    }
}

impl Network {
    /// The network of a plan for foreign packets. Each flow of the plan is one flow, of which only the routes count and
    /// where it is measured; what the plan says of its traffic, controller and transport is not looked at.
    ///
    /// # Errors
    /// What in the plan cannot be run.
    pub fn new(plan: &Plan, inputs: &[Arc<Input>], seed: u64) -> Result<Self, PlanError> {
        Self::with_outside(plan, inputs, seed, &[])
    }

    /// The same, where somebody else keeps the queues of the links `outside` ([`Network::next_out`]).
    ///
    /// # Errors
    /// As above.
    pub fn with_outside(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        outside: &[usize],
    ) -> Result<Self, PlanError> {
        plan.check_network(inputs)?;
        let (routes, places) = assemble_routes(plan);
        let sources: Vec<u32> = (0..plan.flows.len() as u32).collect();
        let driver = Driver::Foreign { outside };
        let mut network = Self::assemble(plan, inputs, seed, routes, &sources, driver, components())?;
        network.foreign = places.into_iter().map(ForeignFlow::new).collect();
        network.schedule_clock();
        Ok(network)
    }

    /// One more flow, which takes the ways of a flow of the plan and is measured where that is; gives its number. It is a
    /// source of its own in the tables.
    ///
    /// # Panics
    /// If the plan has no such flow.
    pub fn add_flow(&mut self, like: u32) -> u32 {
        let ForeignFlow { routes, .. } = self.foreign[like as usize];
        self.foreign.push(ForeignFlow::new(routes));
        self.recorder.add_flow(like)
    }

    /// When something will happen by itself: call [`Network::advance`] then. [`Timestamp::NEVER`] when nothing will
    /// before the end of the run.
    pub fn next_event(&mut self) -> Timestamp {
        let at = self.events.next();
        if at > self.end { Timestamp::NEVER } else { at }
    }

    /// When the run ends: the plan's duration.
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// When the warm-up ends.
    pub fn measure_from(&self) -> Timestamp {
        self.measure_from
    }

    /// A packet enters the first link of its route at `now`. Call [`Network::advance`] up to `now` before: what was due
    /// earlier must have happened. A packet given later than the run's end, or earlier than the last call, counts as of
    /// the last call.
    ///
    /// # Panics
    /// If the plan has no such flow, or the flow no route in that direction.
    pub fn inject(&mut self, now: Timestamp, packet: ForeignPacket) {
        self.now = self.now.max(now.min(self.end));
        self.events.all_over(self.now);
        let routes = self.foreign[packet.flow as usize].routes;
        let (hop, is_data) = match packet.direction {
            Direction::Forward => (routes.forward, true),
            Direction::Back => (routes.back, false),
        };
        if is_data {
            self.recorder.on_sent(packet.flow, u64::from(packet.size));
        }
        let packet = self.recorder.places.packet(Contents {
            flow: packet.flow,
            connection: 0,
            hop,
            size: packet.size,
            enqueued_at: self.now,
            queueing: Duration::ZERO,
            body: Body::Foreign(Foreign {
                handle: packet.handle,
                is_data,
                ecn: packet.ecn,
                sent_at: self.now,
                path: packet.path,
            }),
        });
        self.send(self.events.current(), packet);
    }

    /// Lets everything happen that is due up to and including `until`, but nothing after the end of the run. `deliver`
    /// is called for each packet that reaches the end of its route, in the order of time.
    pub fn advance(&mut self, until: Timestamp, deliver: &mut impl FnMut(Delivery)) {
        let until = until.min(self.end);
        while self.events.next() <= until {
            let Some((at, target)) = self.events.pop() else { break };
            self.now = self.now.max(at);
            self.counts.events += 1;
            if target as usize == self.clock() {
                let flows = std::mem::take(&mut self.foreign);
                self.end_interval(flows.len(), |flow| flows[flow].state, |flow| flows[flow].counted);
                self.foreign = flows;
            } else {
                self.on_link(target as usize, &mut Outside { deliver });
            }
        }
        self.now = self.now.max(until);
        self.events.all_over(self.now);
    }

    /// Hands out the packets that were lost since the last question, so that their owner can forget them. Those that
    /// were damaged are among them when their last bit has left.
    pub fn lost(&mut self) -> impl Iterator<Item = Lost> {
        let lost = |(flow, packet): (u32, Foreign)| Lost {
            flow,
            direction: direction(packet.is_data),
            handle: packet.handle,
        };
        self.recorder.lost_foreign().map(lost)
    }

    /// Hands out the packets that came to the entrances of captured links since the last question, in the order of time:
    /// their owner has the bytes for the capture. What was delivered or lost meanwhile is among them, so ask before such
    /// packets are forgotten.
    pub fn captured(&mut self) -> impl Iterator<Item = Arrival> {
        self.recorder.captured_foreign()
    }

    /// What a link's channel has damaged so far beside what was to be expected, repeats of the link included; `None` of
    /// channels that damage nothing.
    ///
    /// # Panics
    /// If the plan has no such link.
    pub fn damage(&self, link: usize) -> Option<Damage> {
        match &self.links[link] {
            AnyLink::Full(link) => link.damage(),
            AnyLink::Plain(_) => None,
        }
    }

    /// Packets inside links now: waiting, being sent, on the way.
    pub fn packets_inside(&self) -> u64 {
        self.links.iter().map(AnyLink::packets_inside).sum()
    }

    /// What the ends of a flow say of themselves from now on, for its rows in the series; until then it is not active.
    ///
    /// # Panics
    /// If the plan has no such flow; so do the following.
    pub fn set_flow_state(&mut self, flow: u32, state: FlowState) {
        self.foreign[flow as usize].state = state;
    }

    /// Sets what the ends of a flow have counted since it began. The tables leave out what was set last before the
    /// warm-up ended.
    pub fn set_flow_summary(&mut self, flow: u32, counted: FlowSummary) {
        self.foreign[flow as usize].counted = counted;
    }

    /// A flow's receiver handed `bytes` to its application.
    pub fn on_goodput(&mut self, flow: u32, bytes: u64) {
        self.recorder.on_goodput(flow, bytes);
    }

    /// A transfer of a flow is complete; transfers of one flow are numbered from zero.
    pub fn on_completion(&mut self, flow: u32, transfer: u32, start: Timestamp, end: Timestamp, size: Bytes) {
        self.recorder.on_completion(CompletionRow {
            flow: i64::from(flow),
            transfer: i64::from(transfer),
            start_s: start.as_secs_f64(),
            end_s: end.as_secs_f64(),
            bytes: size.get() as i64,
        });
    }

    /// Where the algorithms of a flow report congestion events, estimates and quantities by name.
    pub fn probe(&mut self, flow: u32) -> impl Probe {
        self.recorder.probe(flow)
    }

    /// The same tables that a simulation gives, up to the end of the last interval; one summary for each flow of the
    /// plan, in its order, and then for each that was added.
    ///
    /// # Panics
    /// If there are more or fewer summaries than flows.
    pub fn finish(mut self, flows: &[FlowSummary]) -> Outcome {
        assert_eq!(flows.len(), self.foreign.len(), "one summary for each flow");
        // Whoever drives may stop before the plan's end: what is announced for later never comes.
        self.end = self.now;
        Outcome { capture: None, ..self.outcome(flows.iter().copied()) }
    }
}

/// The ends of foreign flows: nobody knows what they do next, so they have each packet in its time.
struct Outside<'a, Deliver> {
    deliver: &'a mut Deliver,
}

impl<Deliver: FnMut(Delivery)> Ends for Outside<'_, Deliver> {
    fn idle_until(&self, _packet: &Packet) -> Timestamp {
        Timestamp::ZERO
    }

    fn prefetch_flow(&self, _packet: &Packet) {}

    fn prefetch_end(&self, _packet: &Packet) {}

    fn receive(&mut self, network: &mut Network, _event: Entry, packet: Packet) {
        if let (Some(foreign), &Body::Foreign(Foreign { sent_at, .. })) =
            (ForeignPacket::of(&packet), &packet.body)
        {
            if foreign.direction == Direction::Forward {
                network.recorder.on_received(network.now, sent_at, &packet, 0);
            }
            (self.deliver)(Delivery { at: network.now, packet: foreign });
        }
        network.recorder.places.take_back(packet);
    }
}

fn direction(is_data: bool) -> Direction {
    if is_data { Direction::Forward } else { Direction::Back }
}
