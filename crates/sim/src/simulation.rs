//! A run: links, flows, the event loop.

use std::sync::Arc;

use airpath_model::{Duration, Timestamp};

use crate::any_link::AnyLink;
use crate::assemble::{Assembly, END_OF_ROUTE, assemble};
use crate::check::PlanError;
use crate::control::RunControl;
use crate::event::{EventQueue, Target};
use crate::flow::{End, Flow};
use crate::input::Input;
use crate::packet::{Contents, Packet, Places};
use crate::plan::Plan;
use crate::record::{FlowTable, Recorded, Recorder, Table};

/// One run, ready to go.
#[derive(Debug)]
pub struct Simulation {
    now: Timestamp,
    end: Timestamp,
    measure_from: Timestamp,
    interval: Duration,
    links: Vec<AnyLink>,
    /// Those that must have caught up at the end of each interval.
    full_links: Vec<u32>,
    delays_s: Vec<f64>,
    flows: Vec<Flow>,
    /// Routes of all flows, one after the other: links, each route ended by [`END_OF_ROUTE`].
    routes: Vec<u32>,
    events: EventQueue,
    places: Places,
    recorder: Recorder,
    counts: Counts,
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

/// How many events pass between two looks at whether somebody wants the run to stop.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 14;

impl Simulation {
    /// Builds a run from a plan, its input traces and a seed.
    ///
    /// # Errors
    /// What in the plan cannot be run.
    pub fn new(plan: &Plan, inputs: &[Arc<Input>], seed: u64) -> Result<Self, PlanError> {
        plan.check(inputs)?;
        let Assembly { links, delays_s, flows, routes, recorder } = assemble(plan, inputs, seed)?;
        let interval = Duration::from_nanos(plan.record.interval_ns);
        let full = |link: &AnyLink| matches!(link, AnyLink::Full(_));
        let full_links = (0..).zip(&links).filter(|(_, link)| full(link)).map(|(index, _)| index).collect();
        let mut simulation = Self {
            now: Timestamp::ZERO,
            end: Timestamp::from_nanos(plan.duration_ns),
            measure_from: Timestamp::from_nanos(plan.record.measure_from_ns),
            interval,
            events: EventQueue::new(links.len(), 2 * flows.len() + 1),
            full_links,
            links,
            delays_s,
            flows,
            routes,
            places: Places::default(),
            recorder,
            counts: Counts::default(),
        };
        for flow in 0..simulation.flows.len() {
            simulation.schedule_end(flow, End::Sender);
        }
        simulation.schedule_clock();
        Ok(simulation)
    }

    /// Runs to the end, or until `control` wants it to stop.
    ///
    /// # Errors
    /// [`Cancelled`] when it was stopped; nothing is handed out then.
    // A name of its own, so that profiles can count from here.
    #[inline(never)]
    pub fn run(mut self, control: &RunControl) -> Result<Outcome, Cancelled> {
        while let Some((at, target)) = self.events.pop() {
            if at > self.end {
                break;
            }
            debug_assert!(at >= self.now, "time ran back");
            self.now = at;
            self.counts.events += 1;
            if self.counts.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                if control.is_cancelled() {
                    return Err(Cancelled);
                }
                control.report(at, self.end);
            }
            self.dispatch(target);
        }
        control.report(self.end, self.end);
        Ok(self.finish())
    }

    fn dispatch(&mut self, target: Target) {
        let target = target as usize;
        let links = self.links.len();
        if target < links {
            self.on_link(target);
        } else if target == links + 2 * self.flows.len() {
            self.on_clock();
        } else {
            let flow = (target - links) / 2;
            if (target - links).is_multiple_of(2) {
                self.flows[flow].wake_sender(self.now, &mut self.recorder);
                self.drive(flow, End::Sender);
            } else {
                self.flows[flow].wake_receiver(self.now);
                self.drive(flow, End::Receiver);
            }
        }
    }

    /// The packet at the head of a link reaches the far end.
    fn on_link(&mut self, link: usize) {
        let (delivered, next) = self.links[link].deliver(self.now, &mut self.recorder);
        self.events.schedule(link as Target, next);
        let Some(mut packet) = delivered else { return };
        packet.hop += 1;
        let next = self.routes[packet.hop as usize];
        if next == END_OF_ROUTE {
            self.counts.packets_received += 1;
            let flow = packet.flow as usize;
            let end = self.flows[flow].receive(self.now, &packet, &mut self.recorder);
            self.places.take_back(packet);
            self.drive(flow, end);
        } else {
            self.offer(next as usize, packet);
        }
    }

    /// Sends whatever one end of a flow may send now.
    fn drive(&mut self, flow: usize, end: End) {
        match end {
            End::Sender => {
                while let Some(contents) = self.flows[flow].poll_data(self.now, &mut self.recorder) {
                    self.send(contents);
                }
            }
            End::Receiver => {
                while let Some(contents) = self.flows[flow].poll_acknowledgment(self.now) {
                    self.send(contents);
                }
            }
        }
        self.schedule_end(flow, end);
    }

    /// A packet leaves one end of a flow.
    fn send(&mut self, contents: Contents) {
        self.counts.packets_sent += 1;
        let packet = self.places.packet(contents);
        self.offer(self.routes[packet.hop as usize] as usize, packet);
    }

    fn offer(&mut self, link: usize, packet: Packet) {
        self.counts.packet_hops += 1;
        let next = self.links[link].offer(self.now, packet, &mut self.recorder);
        self.events.schedule(link as Target, next);
    }

    /// An interval of the series ends, and with one of them the warm-up.
    fn on_clock(&mut self) {
        self.end_interval();
        if self.now == self.measure_from {
            self.recorder.begin_measuring(self.now);
        }
        self.schedule_clock();
    }

    fn end_interval(&mut self) {
        for &index in &self.full_links {
            let Some(link) = self.links[index as usize].full() else { continue };
            link.advance(self.now, &mut self.recorder);
            let offered = link.offered_bits(self.now);
            self.recorder.end_link_interval(index, self.now, offered);
            link.observe(self.now, &mut self.recorder);
        }
        for flow in &self.flows {
            self.recorder.end_flow_interval(flow.index, self.now, &flow.state(self.now));
        }
    }

    fn schedule_end(&mut self, flow: usize, end: End) {
        let (offset, at) = match end {
            End::Sender => (0, self.flows[flow].next_sender_event()),
            End::Receiver => (1, self.flows[flow].next_receiver_event()),
        };
        self.events.schedule((self.links.len() + 2 * flow + offset) as Target, at.max(self.now));
    }

    fn schedule_clock(&mut self) {
        let at = self.now + self.interval;
        if at <= self.end {
            self.events.schedule((self.links.len() + 2 * self.flows.len()) as Target, at);
        }
    }

    fn finish(mut self) -> Outcome {
        self.counts.packets_inside = self.links.iter().map(AnyLink::packets_inside).sum();
        let mut table = FlowTable::default();
        for flow in &self.flows {
            table.push(flow.complete(self.recorder.flow_row(flow.index)));
        }
        let Recorded { tables, quantities, capture } = self.recorder.finish(self.end, table, &self.delays_s);
        Outcome { tables, quantities, capture, counts: self.counts }
    }
}

/// The run was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was stopped")]
pub struct Cancelled;
