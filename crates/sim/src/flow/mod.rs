//! Flows: a source of data at one end, a receiver at the other.

mod connection;
mod datagrams;
mod logged;

use airpath_model::Timestamp;

use crate::event::{Entry, Target};
use crate::packet::{Body, Packet, Places};
use crate::record::{FlowState, FlowSummary, Recorder};
use crate::transmissions::Transmissions;
use crate::workload::Datagrams;

pub(crate) use connection::{ConnectionSetup, ConnectionSource};
pub(crate) use logged::LoggedSource;

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Its place in the list of flows.
    pub(crate) index: u32,
    /// Its number within the plan's source: above zero only for flows that arrive at random.
    pub(crate) instance: u32,
    /// Where its forward route begins in the route table.
    pub(crate) route: u32,
    /// Where its reverse route begins.
    pub(crate) reverse_route: u32,
    /// When it begins.
    pub(crate) start: Timestamp,
    /// When each end wants to be woken next.
    pub(crate) timers: [Timer; 2],
    /// Whether each end may be given packets ahead of time: whether what it sends then may be.
    pub(crate) ahead: [bool; 2],
    /// What it sends, and who receives it.
    pub(crate) kind: FlowKind,
}

/// What a flow sends.
#[derive(Debug)]
pub(crate) enum FlowKind {
    /// Data over transport connections.
    Connections(Box<ConnectionSource>),
    /// Datagrams to a receiver that only counts.
    Datagrams(Box<Datagrams>),
    /// Data over transport connections, of which a log is kept. The last kind: the others are asked for first.
    Logged(Box<LoggedSource>),
}

impl FlowKind {
    /// Whether it sends over transport connections.
    pub(crate) fn is_reliable(&self) -> bool {
        self.connections().is_some()
    }

    /// The source that sends over transport connections, if it is one.
    fn connections(&self) -> Option<&ConnectionSource> {
        match self {
            Self::Connections(source) => Some(source),
            Self::Logged(logged) => Some(&logged.source),
            Self::Datagrams(_) => None,
        }
    }
}

impl Flow {
    /// A flow that has not begun, with its routes forward and back.
    pub(crate) fn new(index: u32, instance: u32, routes: [u32; 2], start: Timestamp, kind: FlowKind) -> Self {
        let [route, reverse_route] = routes;
        let (timers, ahead) = ([Timer { due: Timestamp::NEVER, set: Timestamp::ZERO }; 2], [false; 2]);
        Self { index, instance, route, reverse_route, start, timers, ahead, kind }
    }

    /// Whether one end never depends on how far the other is but by packets: only a source that opens connection after
    /// connection does.
    pub(crate) fn has_independent_ends(&self) -> bool {
        self.kind.connections().is_none_or(ConnectionSource::opens_one_connection)
    }

    /// Where one end sends; `None` if it sends nothing.
    pub(crate) fn route_from(&self, end: End) -> Option<u32> {
        match (end, &self.kind) {
            (End::Sender, _) => Some(self.route),
            (End::Receiver, FlowKind::Connections(_) | FlowKind::Logged(_)) => Some(self.reverse_route),
            (End::Receiver, FlowKind::Datagrams(_)) => None,
        }
    }

    /// Something is due at the sending end at `now`, or may have become due.
    pub(crate) fn wake_sender(&mut self, now: Timestamp, recorder: &mut Recorder) {
        match &mut self.kind {
            FlowKind::Connections(source) => source.wake_sender(now, self.index, recorder),
            FlowKind::Logged(logged) => logged.source.wake_sender(now, self.index, recorder),
            FlowKind::Datagrams(_) => {}
        }
    }

    /// Something is due at the receiving end.
    pub(crate) fn wake_receiver(&mut self, now: Timestamp) {
        match &mut self.kind {
            FlowKind::Connections(source) => source.wake_receiver(now),
            FlowKind::Logged(logged) => logged.source.wake_receiver(now),
            FlowKind::Datagrams(_) => {}
        }
    }

    /// The next data packet that may leave at `now`; ask until there is none.
    #[inline]
    pub(crate) fn poll_data(&mut self, now: Timestamp, recorder: &mut Recorder) -> Option<Packet> {
        let packet = match &mut self.kind {
            FlowKind::Connections(source) => source.poll_data(now, self.index, self.route, recorder),
            FlowKind::Datagrams(source) => {
                let datagram = source.poll(now)?;
                let contents = datagrams::packet(now, self.index, self.route, datagram);
                Some(recorder.places.packet(contents))
            }
            FlowKind::Logged(logged) => logged.poll_data(now, self.index, self.route, recorder),
        }?;
        recorder.on_sent(self.index, u64::from(packet.size));
        Some(packet)
    }

    /// The next acknowledgment that may leave at `now`; ask until there is none.
    #[inline]
    pub(crate) fn poll_acknowledgment(&mut self, now: Timestamp, places: &mut Places) -> Option<Packet> {
        match &mut self.kind {
            FlowKind::Connections(source) => {
                source.poll_acknowledgment(now, self.index, self.reverse_route, places)
            }
            FlowKind::Datagrams(_) => None,
            FlowKind::Logged(logged) => {
                logged.source.poll_acknowledgment(now, self.index, self.reverse_route, places)
            }
        }
    }

    /// The end at which a packet arrives.
    #[inline]
    pub(crate) fn reached_by(packet: &Packet) -> End {
        if let Body::Acknowledgment(_) = packet.body { End::Sender } else { End::Receiver }
    }

    /// A packet of this flow arrives at the end of its route. Tells which end it reached.
    pub(crate) fn receive(&mut self, now: Timestamp, packet: &mut Packet, recorder: &mut Recorder) -> End {
        let connection = packet.connection;
        match (&mut self.kind, &mut packet.body) {
            (FlowKind::Connections(source), Body::Segment { segment, sent_at }) => {
                let sent_at = *sent_at;
                let goodput = source.on_segment(now, connection, segment);
                recorder.on_received(now, sent_at, packet, goodput);
                End::Receiver
            }
            (FlowKind::Connections(source), Body::Acknowledgment(acknowledgment)) => {
                source.on_acknowledgment(now, connection, acknowledgment, self.index, recorder);
                End::Sender
            }
            (_, &mut Body::Datagram { sent_at, .. }) => {
                recorder.on_received(now, sent_at, packet, u64::from(packet.size));
                End::Receiver
            }
            (FlowKind::Logged(logged), Body::Segment { segment, sent_at }) => {
                let sent_at = *sent_at;
                let goodput = logged.source.on_segment(now, connection, segment);
                recorder.on_received(now, sent_at, packet, goodput);
                End::Receiver
            }
            (FlowKind::Logged(logged), Body::Acknowledgment(acknowledgment)) => {
                let (acknowledgment, arrived) = (*acknowledgment, (connection, packet.size));
                logged.on_acknowledgment(now, arrived, &acknowledgment, self.index, recorder);
                End::Sender
            }
            _ => {
                debug_assert!(false, "a packet of a kind that its flow does not send");
                End::Receiver
            }
        }
    }

    /// When the sending end must be woken next.
    pub(crate) fn next_sender_event(&self) -> Timestamp {
        match &self.kind {
            FlowKind::Connections(source) => source.next_sender_event(),
            FlowKind::Datagrams(source) => source.next_event(),
            FlowKind::Logged(logged) => logged.source.next_sender_event(),
        }
    }

    /// When the receiving end must be woken next.
    pub(crate) fn next_receiver_event(&self) -> Timestamp {
        match &self.kind {
            FlowKind::Connections(source) => source.next_receiver_event(),
            FlowKind::Datagrams(_) => Timestamp::NEVER,
            FlowKind::Logged(logged) => logged.source.next_receiver_event(),
        }
    }

    /// What the series wants to know at `now`.
    pub(crate) fn state(&self, now: Timestamp) -> FlowState {
        match &self.kind {
            FlowKind::Connections(source) => source.state(),
            FlowKind::Logged(logged) => logged.source.state(),
            FlowKind::Datagrams(source) => FlowState::unknown(source.is_active(now)),
        }
    }

    /// What its row in the table of flows wants to know.
    pub(crate) fn summary(&self) -> FlowSummary {
        let begun = FlowSummary { instance: self.instance, ..FlowSummary::begun(self.start) };
        match &self.kind {
            FlowKind::Connections(source) => source.complete(begun),
            FlowKind::Logged(logged) => logged.source.complete(begun),
            FlowKind::Datagrams(source) => FlowSummary { sent_packets: source.sent(), ..begun },
        }
    }

    /// Begins to keep what its sender sees of its packets, if it sends over connections; before it begins. So many flows
    /// share what is kept.
    pub(crate) fn keep_log(self, flows: usize) -> Self {
        let kind = match self.kind {
            FlowKind::Connections(source) => {
                FlowKind::Logged(Box::new(LoggedSource::new(*source, Transmissions::new(self.index, flows))))
            }
            other => other,
        };
        Self { kind, ..self }
    }

    /// What its sender saw of its packets, where that was kept.
    pub(crate) fn into_log(self) -> Option<Transmissions> {
        match self.kind {
            FlowKind::Logged(logged) => Some(logged.finish()),
            _ => None,
        }
    }
}

/// When one end wants to be woken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// When.
    pub(crate) due: Timestamp,
    /// When it began to want that: of two that are due at one instant, the one that was set earlier comes first.
    pub(crate) set: Timestamp,
}

impl Timer {
    /// The event that it is for that target.
    #[inline]
    pub(crate) fn event(self, target: Target) -> Entry {
        Entry::new(self.due, self.set, target)
    }
}

/// One of the two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Where data comes from.
    Sender,
    /// Where data goes.
    Receiver,
}

/// Both, by their numbers.
pub(crate) const ENDS: [End; 2] = [End::Sender, End::Receiver];

impl End {
    /// Its number: 0 or 1.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}
