//! The network of a run: links, routes, the packets inside, and the records.

use std::sync::Arc;

use airpath_model::{Duration, Timestamp};

use airpath_plan::{Input, Plan, PlanError};

use crate::Components;
use crate::build::{assemble_links, assemble_recorder};
use crate::context::Context;
use crate::event::{Entry, EventQueue, Target};
use crate::link::{AnyLink, Offered};
use crate::lookahead::{FlowEnds, Sizes, look_ahead};
use crate::packet::{Packet, PacketPool};
use crate::record::{FlowSeries, FlowState, FlowSummary, FlowTable, Recorded, Table};
use crate::routes::END_OF_ROUTE;
use crate::transmissions::Transmissions;

/// The links of a run, the packets inside, the event queue and the records.
#[derive(Debug)]
pub struct Network {
    /// The current time.
    pub now: Timestamp,
    /// The end of the run.
    pub end: Timestamp,
    pub(crate) measure_from: Timestamp,
    interval: Duration,
    pub(crate) links: Vec<AnyLink>,
    /// Links that must be advanced at the end of each interval.
    full_links: Vec<u32>,
    delays_s: Vec<f64>,
    /// The routes of all flows, one after the other: links, each route terminated by [`END_OF_ROUTE`].
    pub(crate) routes: Arc<[Target]>,
    /// The event queue. Its targets are the links, the timers of the driver, and the sampling clock.
    pub events: EventQueue,
    /// The records and the packet pool.
    pub context: Context,
    /// Counters of the engine.
    pub counts: Counts,
    clock: Target,
    /// Before this time, the state of the flows' endpoints is not recorded.
    pub(crate) horizon: Timestamp,
    /// The end of the last interval.
    interval_ended: Timestamp,
}

/// The driver of a network.
#[derive(Debug)]
pub enum Driver<'a> {
    /// A simulation with these flows, with two timers each.
    Simulation(&'a mut [FlowEnds]),
    /// A caller with packets of any size, which reads the corruption of channels
    /// ([`ExternalNetwork::damage`](crate::ExternalNetwork::damage)).
    External {
        /// Links whose queues the caller keeps.
        outside: &'a [usize],
    },
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The tables documented in `docs/reference/results.md`, except `flow_series`.
    pub tables: Vec<Table>,
    /// The table `flow_series` in a compact form, which is expanded on request.
    pub flow_series: FlowSeries,
    /// The names of the quantities in the tables `link_observations` and `flow_observations`, by their index there.
    pub quantities: Vec<String>,
    /// A pcapng file, if links were captured. The capture of external packets is the caller's
    /// ([`ExternalNetwork::captured`](crate::ExternalNetwork::captured)).
    pub capture: Option<Vec<u8>>,
    /// The transmissions observed by senders, if requested, in the order of flows.
    pub transmissions: Vec<Transmissions>,
    /// Counters of the engine.
    pub counts: Counts,
}

/// Counters of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events taken from the queue.
    pub events: u64,
    /// Packets offered to links, counted once per link, data and acknowledgments alike.
    pub packet_hops: u64,
    /// Packets inside links when the run ended.
    pub packets_inside: u64,
    /// Packets that reached the end of their route.
    pub packets_received: u64,
    /// Packets that senders and receivers sent.
    pub packets_sent: u64,
}

/// The endpoints of flows, which receive the packets at the ends of their routes.
pub trait Ends {
    /// Returns the time before which the endpoint of a packet has no events other than packets. A packet that
    /// arrives earlier may be [received](Ends::receive) as soon as its arrival time is known, after all
    /// packets that arrive there before it.
    fn idle_until(&self, packet: &Packet) -> Timestamp;

    /// Prefetches the data of the flow of a packet that arrives soon.
    fn prefetch_flow(&self, packet: &Packet);

    /// Prefetches the data of the endpoint of a packet that arrives sooner.
    fn prefetch_end(&self, packet: &Packet);

    /// Receives a packet at the end of its route. Its event is the current one or a later one.
    fn receive(&mut self, network: &mut Network, event: Entry, packet: Packet);
}

impl Network {
    /// Builds the network of a checked plan. `sources` contains the flow of the plan for each flow of the run.
    ///
    /// # Errors
    /// Returns the first part of the plan that cannot be run.
    pub fn assemble(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        routes: Vec<u32>,
        sources: &[u32],
        driver: Driver<'_>,
        components: &Components,
    ) -> Result<Self, PlanError> {
        let (keep_damage, outside) = match &driver {
            Driver::Simulation(_) => (false, &[][..]),
            Driver::External { outside } => (true, *outside),
        };
        let (mut links, delays_s) =
            assemble_links(plan, inputs, seed, sources, keep_damage, outside, components)?;
        let (flows, sizes) = match driver {
            Driver::Simulation(flows) => (flows, Some(Sizes::of(plan))),
            Driver::External { .. } => (&mut [][..], None),
        };
        let routes: Arc<[Target]> = routes.into();
        look_ahead(plan, &routes, &mut links, flows, sizes);
        let timers = 2 * flows.len();
        let full = |link: &AnyLink| matches!(link, AnyLink::Full(_));
        let full_links = (0..).zip(&links).filter(|(_, link)| full(link)).map(|(index, _)| index).collect();
        let recorder = assemble_recorder(plan, sources, &delays_s)?;
        Ok(Self {
            now: Timestamp::ZERO,
            end: Timestamp::from_nanos(plan.duration_ns),
            measure_from: Timestamp::from_nanos(plan.record.measure_from_ns),
            interval: Duration::from_nanos(plan.record.interval_ns),
            events: EventQueue::new(links.len(), timers + 1),
            clock: (links.len() + timers) as Target,
            horizon: Timestamp::ZERO,
            full_links,
            links,
            delays_s,
            routes,
            context: Context { recorder, pool: PacketPool::default() },
            counts: Counts::default(),
            interval_ended: Timestamp::ZERO,
        })
    }

    /// Returns the first target that is a timer of the driver.
    #[inline]
    pub fn first_timer(&self) -> usize {
        self.links.len()
    }

    /// Returns the target that is the sampling clock.
    #[inline]
    pub fn clock(&self) -> usize {
        self.clock as usize
    }

    /// Delivers the packet at the head of a link, and others whose arrival is known in advance.
    #[inline]
    pub fn on_link(&mut self, index: usize, ends: &mut impl Ends) {
        match &mut self.links[index] {
            AnyLink::Plain(link) => {
                if let Some(packet) = link.deliver(self.now) {
                    self.go_on(packet, ends);
                }
                self.drain(index, ends);
            }
            AnyLink::Full(link) => {
                self.counts.packet_hops += link.take_in(self.events.current(), &mut self.context);
                if link.hands_over() {
                    link.advance(self.now, &mut self.context);
                    return self.hand_over(index, ends);
                }
                let packet = link.deliver(self.now, &mut self.context);
                let (at, since) = link.next_event(self.now);
                self.events.schedule_since(index as Target, at, since);
                if let Some(packet) = packet {
                    self.go_on(packet, ends);
                }
            }
        }
    }

    /// Passes on a packet that has left a link.
    #[inline]
    pub(crate) fn go_on(&mut self, mut packet: Packet, ends: &mut impl Ends) {
        let next = packet.go_on(&self.routes);
        if next == END_OF_ROUTE {
            return self.arrive(self.events.current(), packet, ends);
        }
        self.offer(next as usize, packet);
    }

    /// Sends a packet into its first link. Its event is the current one or a later one.
    #[inline]
    pub fn send(&mut self, event: Entry, packet: Packet) {
        self.counts.packets_sent += 1;
        let index = self.routes[packet.hop as usize];
        if let AnyLink::Plain(_) = self.links[index as usize] {
            self.offer_plain(index as usize, event.at(), packet);
        } else if event == self.events.current() {
            self.offer(index as usize, packet);
        } else {
            self.announce(index, event, packet);
        }
    }

    /// Delivers a packet to the near end of a link.
    #[inline]
    pub(crate) fn offer(&mut self, index: usize, packet: Packet) {
        if let AnyLink::Full(link) = &mut self.links[index] {
            self.counts.packet_hops += 1 + link.take_in(self.events.current(), &mut self.context);
            link.offer(self.now, packet, &mut self.context);
            let (at, since) = link.next_event(self.now);
            self.events.schedule_since(index as Target, at, since);
        } else {
            self.offer_plain(index, self.now, packet);
        }
    }

    /// Offers a packet to a plain link at `at`, now or later.
    #[inline]
    pub(crate) fn offer_plain(&mut self, index: usize, at: Timestamp, packet: Packet) {
        let AnyLink::Plain(link) = &mut self.links[index] else { return };
        // Packets that arrive after the end of the run are not counted.
        self.counts.packet_hops += u64::from(at <= self.end);
        match link.offer(index as Target, at, packet, &mut self.context) {
            Offered::Nothing => {}
            Offered::First { arrival, since } => self.events.schedule_since(index as Target, arrival, since),
            Offered::Announced(next, event, mut packet) => {
                packet.hop += 1;
                self.announce(next, event, packet);
            }
        }
    }

    /// Announces a packet that will arrive at the near end of a link by this event.
    #[inline]
    pub(crate) fn announce(&mut self, target: Target, event: Entry, packet: Packet) {
        let AnyLink::Full(link) = &mut self.links[target as usize] else { return };
        if link.announce(event, packet) {
            let (at, since) = link.next_event(self.now);
            self.events.schedule_since(target, at, since);
        }
    }

    /// Ends an interval of the series. Calls `state` for each of the first `flows` flows, and also `summary`
    /// if the warm-up ends with the interval.
    pub fn end_interval(
        &mut self,
        flows: usize,
        state: impl Fn(usize) -> FlowState,
        summary: impl Fn(usize) -> FlowSummary,
    ) {
        for &index in &self.full_links {
            let Some(link) = self.links[index as usize].full() else { continue };
            self.counts.packet_hops += link.take_in(self.events.current(), &mut self.context);
            link.advance(self.now, &mut self.context);
            let offered = link.offered_bits(self.now);
            self.context.recorder.end_link_interval(index, self.now, offered);
            link.observe(self.now, &mut self.context);
        }
        for flow in 0..flows {
            self.context.recorder.end_flow_interval(flow as u32, self.now, &state(flow));
        }
        self.interval_ended = self.now;
        if self.now == self.measure_from {
            self.context.recorder.begin_measuring(self.now, (0..flows).map(summary).collect());
        }
        if self.now == self.end {
            self.context.recorder.end_measuring();
        }
        self.schedule_clock();
    }

    /// Schedules the end of the next interval.
    pub fn schedule_clock(&mut self) {
        let at = self.now + self.interval;
        if at <= self.end {
            // As the oldest event of its instant. Otherwise an arrival at that instant would count before or
            // after it, depending on the order of the requests and thus on the length of intervals.
            self.events.schedule_since(self.clock, at, Timestamp::ZERO);
        }
        self.horizon = at.min(self.end + Duration::from_nanos(1));
    }

    /// Returns the results up to the end of the last interval. `flows` contains the summary of each flow.
    pub fn outcome(mut self, flows: impl Iterator<Item = FlowSummary>) -> Outcome {
        let end = Entry::last_at(self.end);
        for &index in &self.full_links {
            let Some(link) = self.links[index as usize].full() else { continue };
            self.counts.packet_hops += link.take_in(end, &mut self.context);
        }
        self.counts.packets_inside = self.links.iter().map(AnyLink::packets_inside).sum();
        let mut table = FlowTable::default();
        for (flow, summary) in (0..).zip(flows) {
            table.push(self.context.recorder.flow_row(flow, &summary));
        }
        let Recorded { tables, flow_series, quantities, capture } =
            self.context.recorder.finish(self.interval_ended, table, &self.delays_s);
        Outcome { tables, flow_series, quantities, capture, transmissions: Vec::new(), counts: self.counts }
    }
}
