//! The endpoints of all flows, and their lookahead.

use airpath_model::Timestamp;
use airpath_network::{Ends, Entry, FlowSummary, Network, Packet, Target, Transmissions, prefetch};

use crate::flow::{ConnectionSource, ENDS, End, Flow, FlowKind, Timer};

/// The flows of a run, whose endpoints receive and send packets.
///
/// The events of an endpoint are packets, which arrive in sequence over one link, and its own timers; its
/// state is not read between two rows of the series. If the link knows the arrival time of a packet and no
/// timer is due before, the endpoint can therefore receive the packet at once. Packets that it then sends
/// leave in the future, which its first link must support ([`Flow::ahead`]).
#[derive(Debug)]
pub(crate) struct Flows {
    flows: Vec<Flow>,
    /// The target of the first flow's sender; its receiver is the next target, and so on.
    first_timer: usize,
}

impl Flows {
    /// Creates the endpoints of these flows, whose timers are the targets from `first_timer` on.
    pub(crate) fn new(flows: Vec<Flow>, first_timer: usize) -> Self {
        Self { flows, first_timer }
    }

    /// Schedules the first event of each sender.
    pub(crate) fn begin(&mut self, network: &mut Network) {
        for flow in 0..self.flows.len() {
            let next = self.flows[flow].next_sender_event();
            self.set_timer(network, flow, End::Sender, next, Timestamp::ZERO);
        }
    }

    /// Processes a timer event, which may have been postponed since.
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

    /// Ends an interval of the series.
    pub(crate) fn end_interval(&mut self, network: &mut Network) {
        let now = network.now;
        for flow in &mut self.flows {
            flow.record_limits(now, &mut network.context.recorder);
        }
        let flows = &self.flows;
        network.end_interval(flows.len(), |flow| flows[flow].state(now), |flow| flows[flow].summary());
    }

    /// Returns the number of flows.
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Returns the sender of a flow if it is externally controlled.
    pub(crate) fn steered(&mut self, flow: usize) -> Option<&mut ConnectionSource> {
        match &mut self.flows[flow].kind {
            FlowKind::Connections(source) => source.steered().is_some().then_some(source),
            FlowKind::Datagrams(_) => None,
        }
    }

    /// Sends packets of a flow whose limits have changed.
    pub(crate) fn send_on(&mut self, network: &mut Network, flow: usize) {
        let event = network.events.current();
        self.drive(network, flow, End::Sender, event);
    }

    /// Returns the data for the rows of the table of flows.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = FlowSummary> {
        self.flows.iter().map(Flow::summary)
    }

    /// Returns the packet events observed by senders, if recorded.
    pub(crate) fn into_logs(self) -> impl Iterator<Item = Transmissions> {
        self.flows.into_iter().filter_map(Flow::into_log)
    }

    /// Sends all packets that one endpoint of a flow may send at this event.
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

    /// Schedules the wake-up of an endpoint at `next`, at time `now`. If an earlier event is already
    /// scheduled, it is postponed when it occurs.
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
