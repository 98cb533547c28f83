//! The network of a run: links, routes, the packets inside, and the records.
//!
//! Whoever owns the flows drives it: [`Simulation`](crate::Simulation) does with flows of its own, and whoever has real
//! packets and a real clock does through [`Network::inject`], [`Network::next_event`] and [`Network::advance`]. Queues,
//! channels and records are the same for both.

mod foreign;

use std::sync::Arc;

use airpath_model::{Duration, Timestamp};

use crate::ahead::{Sizes, look_ahead};
use crate::any_link::AnyLink;
use crate::assemble::{END_OF_ROUTE, assemble_links, assemble_recorder};
use crate::check::PlanError;
use crate::event::{Entry, EventQueue, Target};
use crate::input::Input;
use crate::packet::{Packet, Places};
use crate::plain_link::Offered;
use crate::plan::Plan;
use crate::record::{FlowSeries, FlowTable, Recorded, Recorder, Table};

pub use crate::record::{FlowState, FlowSummary};
pub use foreign::{Arrival, Delivery, Direction, ForeignPacket, Lost};

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

/// Who drives a network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Driver {
    /// Flows of its own, with that many timers, whose packets have these sizes.
    Simulation { sizes: Sizes, timers: usize },
    /// Somebody with packets of any size, who wants to know what channels damage ([`Network::damage`]).
    Foreign,
}

/// What a run hands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The tables documented in `docs/results.md`, but for `flow_series`.
    pub tables: Vec<Table>,
    /// The table `flow_series`, which becomes wide only when somebody wants it.
    pub flow_series: FlowSeries,
    /// Names of the quantities in the tables `link_observations` and `flow_observations`, by their number there.
    pub quantities: Vec<&'static str>,
    /// A pcapng file, when links were captured; of foreign packets their owner makes it ([`Network::captured`]).
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
    /// The network of a plan that was checked, with those routes, for flows that come from these flows of the plan.
    pub(crate) fn assemble(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        routes: Vec<u32>,
        sources: &[u32],
        driver: Driver,
    ) -> Result<Self, PlanError> {
        let (sizes, timers) = match driver {
            Driver::Simulation { sizes, timers } => (Some(sizes), timers),
            Driver::Foreign => (None, 0),
        };
        let keep_damage = matches!(driver, Driver::Foreign);
        let (mut links, delays_s) = assemble_links(plan, inputs, seed, sources, keep_damage)?;
        look_ahead(plan, &routes, &mut links, sizes);
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
    pub(crate) fn on_link(&mut self, index: usize) -> Option<Packet> {
        let delivered = match &mut self.links[index] {
            AnyLink::Plain(link) => {
                let packet = link.deliver(self.now);
                if let Some((at, offered)) = link.head() {
                    self.events.schedule_since(index as Target, at, offered.max(self.now));
                }
                packet
            }
            AnyLink::Full(link) => {
                self.counts.packet_hops += link.take_in(self.events.current(), &mut self.recorder);
                if link.hands_over() {
                    link.advance(self.now, &mut self.recorder);
                    self.hand_over(index);
                    return None;
                }
                let packet = link.deliver(self.now, &mut self.recorder);
                let (at, since) = link.next_event(self.now);
                self.events.schedule_since(index as Target, at, since);
                packet
            }
        };
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
    pub(crate) fn send(&mut self, packet: Packet) {
        self.counts.packets_sent += 1;
        self.offer(self.routes[packet.hop as usize] as usize, packet);
    }

    /// A packet arrives at the near end of a link.
    #[inline]
    fn offer(&mut self, index: usize, packet: Packet) {
        if let AnyLink::Full(link) = &mut self.links[index] {
            self.counts.packet_hops += 1 + link.take_in(self.events.current(), &mut self.recorder);
            link.offer(self.now, packet, &mut self.recorder);
            let (at, since) = link.next_event(self.now);
            self.events.schedule_since(index as Target, at, since);
        } else {
            self.offer_plain(index, self.now, packet);
        }
    }

    /// A packet arrives at the near end of a plain link, now or later.
    #[inline]
    fn offer_plain(&mut self, index: usize, at: Timestamp, packet: Packet) {
        let AnyLink::Plain(link) = &mut self.links[index] else { return };
        // What arrives after the end of the run is not counted.
        self.counts.packet_hops += u64::from(at <= self.end);
        match link.offer(index as Target, at, packet, &mut self.recorder) {
            Offered::Nothing => {}
            Offered::First(arrival) => self.events.schedule_since(index as Target, arrival, at),
            Offered::Announced(next, event, mut packet) => {
                packet.hop += 1;
                self.announce(next, event, packet);
            }
        }
    }

    /// A packet will arrive at the near end of a link, by that event.
    #[inline]
    fn announce(&mut self, target: Target, event: Entry, packet: Packet) {
        let AnyLink::Full(link) = &mut self.links[target as usize] else { return };
        if link.announce(event, packet) {
            let (at, since) = link.next_event(self.now);
            self.events.schedule_since(target, at, since);
        }
    }

    /// Gives to the next links what has left one, and asks for its next event.
    fn hand_over(&mut self, index: usize) {
        loop {
            let AnyLink::Full(link) = &mut self.links[index] else { return };
            let Some((mut packet, arrival, since)) = link.take_departed() else {
                let (at, since) = link.next_event(self.now);
                return self.events.schedule_since(index as Target, at, since);
            };
            packet.hop += 1;
            let next = self.routes[packet.hop as usize];
            if matches!(self.links[next as usize], AnyLink::Plain(_)) {
                self.offer_plain(next as usize, arrival, packet);
            } else {
                self.announce(next, Entry::new(arrival, since, index as Target), packet);
            }
        }
    }

    /// An interval of the series ends, and with one of them the warm-up; `state` is asked for each flow of the run.
    pub(crate) fn end_interval(&mut self, flows: usize, state: impl Fn(usize) -> FlowState) {
        for &index in &self.full_links {
            let Some(link) = self.links[index as usize].full() else { continue };
            self.counts.packet_hops += link.take_in(self.events.current(), &mut self.recorder);
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
        let end = Entry::last_at(self.end);
        for &index in &self.full_links {
            let Some(link) = self.links[index as usize].full() else { continue };
            self.counts.packet_hops += link.take_in(end, &mut self.recorder);
        }
        self.counts.packets_inside = self.links.iter().map(AnyLink::packets_inside).sum();
        let mut table = FlowTable::default();
        for (flow, summary) in (0..).zip(flows) {
            table.push(self.recorder.flow_row(flow, &summary));
        }
        let Recorded { tables, flow_series, quantities, capture } =
            self.recorder.finish(self.interval_ended, table, &self.delays_s);
        Outcome { tables, flow_series, quantities, capture, counts: self.counts }
    }
}
