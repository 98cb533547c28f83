//! The network of a run: links, routes, the packets inside, and the records.
//!
//! Whoever owns the flows drives it: [`Simulation`](crate::Simulation) does with flows of its own, and whoever has real
//! packets and a real clock does through [`Network::inject`], [`Network::next_event`] and [`Network::advance`]. Queues,
//! channels and records are the same for both.

mod foreign;

use std::sync::Arc;

use airpath_model::{Duration, Timestamp};

use crate::any_link::AnyLink;
use crate::assemble::{END_OF_ROUTE, assemble_links, assemble_recorder};
use crate::check::PlanError;
use crate::event::{EventQueue, Target};
use crate::input::Input;
use crate::packet::{Contents, Packet, Places};
use crate::plan::Plan;
use crate::record::{FlowTable, Recorded, Recorder, Table};

pub use crate::record::{FlowState, FlowSummary};
pub use foreign::{Delivery, Direction, ForeignPacket, Lost};

/// The links of a run and all that is inside them.
#[derive(Debug)]
pub struct Network {
    pub(crate) now: Timestamp,
    pub(crate) end: Timestamp,
    measure_from: Timestamp,
    interval: Duration,
    links: Vec<AnyLink>,
    /// Those that must have caught up at the end of each interval.
    full_links: Vec<u32>,
    delays_s: Vec<f64>,
    /// Routes of all flows, one after the other: links, each route ended by [`END_OF_ROUTE`].
    routes: Vec<u32>,
    /// Targets are the links, the timers of whoever drives, and the sampling clock.
    pub(crate) events: EventQueue,
    pub(crate) places: Places,
    pub(crate) recorder: Recorder,
    pub(crate) counts: Counts,
    clock: Target,
    /// When the last interval ended.
    interval_ended: Timestamp,
    /// What foreign flows said last, and where their routes begin.
    foreign: Vec<foreign::ForeignFlow>,
}

/// What a run hands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The tables documented in `docs/results.md`.
    pub tables: Vec<Table>,
    /// Names of the quantities in the tables `link_observations` and `flow_observations`, by their number there.
    pub quantities: Vec<&'static str>,
    /// A pcapng file, when links were captured.
    pub capture: Option<Vec<u8>>,
    /// What the engine did.
    pub counts: Counts,
}

/// What the engine did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets offered to a link: one packet over one link, data and acknowledgments alike.
    pub packet_hops: u64,
    /// Packets inside links when the run ended.
    pub packets_inside: u64,
    /// Packets that reached the end of their route.
    pub packets_received: u64,
    /// Packets that senders and receivers let go.
    pub packets_sent: u64,
}

impl Network {
    /// The network of a plan that was checked, with those routes, for flows that come from these flows of the plan;
    /// whoever drives it has that many timers.
    pub(crate) fn assemble(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        routes: Vec<u32>,
        sources: &[u32],
        timers: usize,
    ) -> Result<Self, PlanError> {
        let (links, delays_s) = assemble_links(plan, inputs, seed, sources)?;
        let full = |link: &AnyLink| matches!(link, AnyLink::Full(_));
        let full_links = (0..).zip(&links).filter(|(_, link)| full(link)).map(|(index, _)| index).collect();
        Ok(Self {
            now: Timestamp::ZERO,
            end: Timestamp::from_nanos(plan.duration_ns),
            measure_from: Timestamp::from_nanos(plan.record.measure_from_ns),
            interval: Duration::from_nanos(plan.record.interval_ns),
            events: EventQueue::new(links.len(), timers + 1),
            clock: (links.len() + timers) as Target,
            full_links,
            links,
            delays_s,
            routes,
            places: Places::default(),
            recorder: assemble_recorder(plan, sources)?,
            counts: Counts::default(),
            interval_ended: Timestamp::ZERO,
            foreign: Vec::new(),
        })
    }

    /// The first target that is a timer of whoever drives.
    #[inline]
    pub(crate) fn first_timer(&self) -> usize {
        self.links.len()
    }

    /// The target that is the sampling clock.
    #[inline]
    pub(crate) fn clock(&self) -> usize {
        self.clock as usize
    }

    /// The packet at the head of a link reaches the far end. Gives it when that is the end of its route.
    #[inline]
    pub(crate) fn on_link(&mut self, link: usize) -> Option<Packet> {
        let (delivered, next) = self.links[link].deliver(self.now, &mut self.recorder);
        self.events.schedule(link as Target, next);
        let mut packet = delivered?;
        packet.hop += 1;
        let next = self.routes[packet.hop as usize];
        if next == END_OF_ROUTE {
            self.counts.packets_received += 1;
            return Some(packet);
        }
        self.offer(next as usize, packet);
        None
    }

    /// A packet enters its first link.
    #[inline]
    pub(crate) fn send(&mut self, contents: Contents) {
        self.counts.packets_sent += 1;
        let packet = self.places.packet(contents);
        self.offer(self.routes[packet.hop as usize] as usize, packet);
    }

    #[inline]
    fn offer(&mut self, link: usize, packet: Packet) {
        self.counts.packet_hops += 1;
        let next = self.links[link].offer(self.now, packet, &mut self.recorder);
        self.events.schedule(link as Target, next);
    }

    /// An interval of the series ends, and with one of them the warm-up; `state` is asked for each flow of the run.
    pub(crate) fn end_interval(&mut self, flows: usize, state: impl Fn(usize) -> FlowState) {
        for &index in &self.full_links {
            let Some(link) = self.links[index as usize].full() else { continue };
            link.advance(self.now, &mut self.recorder);
            let offered = link.offered_bits(self.now);
            self.recorder.end_link_interval(index, self.now, offered);
            link.observe(self.now, &mut self.recorder);
        }
        for flow in 0..flows {
            self.recorder.end_flow_interval(flow as u32, self.now, &state(flow));
        }
        self.interval_ended = self.now;
        if self.now == self.measure_from {
            self.recorder.begin_measuring(self.now);
        }
        self.schedule_clock();
    }

    /// Asks for the end of the next interval.
    pub(crate) fn schedule_clock(&mut self) {
        let at = self.now + self.interval;
        if at <= self.end {
            self.events.schedule(self.clock, at);
        }
    }

    /// The results, with what the ends of each flow say; they reach to the end of the last interval.
    pub(crate) fn outcome(mut self, flows: impl Iterator<Item = FlowSummary>) -> Outcome {
        self.counts.packets_inside = self.links.iter().map(AnyLink::packets_inside).sum();
        let mut table = FlowTable::default();
        for (flow, summary) in (0..).zip(flows) {
            table.push(self.recorder.flow_row(flow, &summary));
        }
        let Recorded { tables, quantities, capture } =
            self.recorder.finish(self.interval_ended, table, &self.delays_s);
        Outcome { tables, quantities, capture, counts: self.counts }
    }
}
