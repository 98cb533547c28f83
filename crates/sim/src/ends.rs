//! The ends of all flows, and how they are run ahead of the clock.

use airpath_model::Timestamp;
use airpath_network::{Ends, Entry, FlowSummary, Network, Packet, Target, Transmissions, prefetch};

use crate::flow::{ConnectionSource, ENDS, End, Flow, FlowKind, Timer};

/// The flows of a run, whose ends receive packets and send others.
///
/// The events of an end are packets, which arrive one after the other over one link, and its own timers; its state is not read
/// between two rows of the series. If the link knows the arrival time of a packet and no timer is due before, the end can
/// therefore receive the packet at once. Packets that it then sends leave later than now, which its first link must allow
/// ([`Flow::ahead`]).
#[derive(Debug)]
pub(crate) struct Flows {
    flows: Vec<Flow>,
    /// The target of the first flow's sender; its receiver's is the next, and so on.
    first_timer: usize,
}

impl Flows {
    /// The ends of these flows, whose timers are the targets from that one on.
    pub(crate) fn new(flows: Vec<Flow>, first_timer: usize) -> Self {
        Self { flows, first_timer }
    }

    /// Asks for the first event of each sender.
    pub(crate) fn begin(&mut self, network: &mut Network) {
        for flow in 0..self.flows.len() {
            let next = self.flows[flow].next_sender_event();
            self.set_timer(network, flow, End::Sender, next, Timestamp::ZERO);
        }
    }

    /// A timer has come, or an earlier time at which it once was due.
    pub(crate) fn wake(&mut self, network: &mut Network, target: usize) {
        let timer = target - self.first_timer;
        let (flow, end) = (timer / 2, ENDS[timer % 2]);
        let (source, event) = (&mut self.flows[flow], network.events.current());
        let timer = &mut source.timers[end.index()];
        if timer.event(target as Target) > event {
            return network.events.schedule_since(target as Target, timer.due, timer.set);
        }
        timer.due = Timestamp::NEVER;
        match end {
            End::Sender => source.wake_sender(event.at(), &mut network.context.recorder),
            End::Receiver => source.wake_receiver(event.at()),
        }
        self.drive(network, flow, end, event);
    }

    /// An interval of the series ends.
    pub(crate) fn end_interval(&mut self, network: &mut Network) {
        let now = network.now;
        for flow in &mut self.flows {
            flow.record_limits(now, &mut network.context.recorder);
        }
        let flows = &self.flows;
        network.end_interval(flows.len(), |flow| flows[flow].state(now), |flow| flows[flow].summary());
    }

    /// How many flows there are.
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// The sending end of a flow, if it is steered from outside.
    pub(crate) fn steered(&mut self, flow: usize) -> Option<&mut ConnectionSource> {
        match &mut self.flows[flow].kind {
            FlowKind::Connections(source) => source.steered().is_some().then_some(source),
            FlowKind::Datagrams(_) => None,
        }
    }

    /// What the sender of a flow may send has changed.
    pub(crate) fn send_on(&mut self, network: &mut Network, flow: usize) {
        let event = network.events.current();
        self.drive(network, flow, End::Sender, event);
    }

    /// What the rows of the flows in their table want to know.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = FlowSummary> {
        self.flows.iter().map(Flow::summary)
    }

    /// What senders saw of their packets, where that was kept.
    pub(crate) fn into_logs(self) -> impl Iterator<Item = Transmissions> {
        self.flows.into_iter().filter_map(Flow::into_log)
    }

    /// Sends whatever one end of a flow may send when that event happens.
    fn drive(&mut self, network: &mut Network, flow: usize, end: End, event: Entry) {
        let (source, now) = (&mut self.flows[flow], event.at());
        let next = match end {
            End::Sender => {
                while let Some(packet) = source.poll_data(now, &mut network.context) {
                    network.send(event, packet);
                }
                source.next_sender_event()
            }
            End::Receiver => {
                while let Some(packet) = source.poll_acknowledgment(now, &mut network.context.pool) {
                    network.send(event, packet);
                }
                source.next_receiver_event()
            }
        };
        self.set_timer(network, flow, end, next, now);
    }

    /// At `now` one end wants to be woken at `next`. An event that was asked for earlier looks when it comes.
    #[inline]
    fn set_timer(&mut self, network: &mut Network, flow: usize, end: End, next: Timestamp, now: Timestamp) {
        let (due, timer) = (next.max(now), &mut self.flows[flow].timers[end.index()]);
        let before = timer.due;
        if due != before {
            *timer = Timer { due, set: now };
        }
        if due < before {
            let target = self.first_timer + 2 * flow + end.index();
            network.events.schedule_since(target as Target, due, now);
        }
    }
}

impl Ends for Flows {
    #[inline]
    fn idle_until(&self, packet: &Packet) -> Timestamp {
        let flow = &self.flows[packet.flow as usize];
        let end = Flow::reached_by(packet).index();
        if flow.ahead[end] { flow.timers[end].due } else { Timestamp::ZERO }
    }

    #[inline]
    fn prefetch_flow(&self, packet: &Packet) {
        let flow = &self.flows[packet.flow as usize];
        prefetch::value(flow);
        prefetch::end(flow);
    }

    #[inline]
    fn prefetch_end(&self, packet: &Packet) {
        if let FlowKind::Connections(source) = &self.flows[packet.flow as usize].kind {
            source.prefetch(Flow::reached_by(packet));
        }
    }

    fn receive(&mut self, network: &mut Network, event: Entry, mut packet: Packet) {
        let flow = packet.flow as usize;
        let end = self.flows[flow].receive(event.at(), &mut packet, &mut network.context.recorder);
        network.context.pool.take_back(packet);
        self.drive(network, flow, end, event);
    }
}
