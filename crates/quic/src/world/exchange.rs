//! Connects hosts and network: datagrams of quinn enter the network, delivered datagrams go to quinn, and
//! both are woken when they request it.

use std::sync::{Arc, Mutex, PoisonError};

use airpath_model::{Ecn, Measurement, PathHeader, Probe, Timestamp};
use airpath_network::{
    Delivery, Direction, ExternalNetwork, ExternalPacket, FlowState, FlowSummary, Outcome, Transmissions,
};
use bytes::{Bytes, BytesMut};
use quinn_proto::{
    ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Event, Incoming, StreamEvent, StreamId, Transmit,
    VarInt,
};

use super::RunError;
use super::host::{End, Host, Side, address, first_identifiers};
use super::settings::HEADERS;
use super::slots::{Inside, Slots};
use super::source::{Kind, Sending, Source};
use super::wakeups::{Wakee, Wakeups};
use crate::clock::Origin;
use crate::controller::{HandOver, Shared, hand_over};
use crate::logged::{FlowPackets, LoggedFactory};
use crate::quinns_own::quinns_own;

/// Data to send is taken from a block of this many zeros.
const PIECE: usize = 1 << 24;

/// A network with both hosts.
pub(super) struct Exchange {
    network: ExternalNetwork,
    origin: Origin,
    now: Timestamp,
    /// End of the warm-up, until it is reached.
    measure_from: Option<Timestamp>,
    hosts: [Host; 2],
    sources: Vec<Source>,
    flows: Vec<FlowEnds>,
    slots: Slots,
    wakeups: Wakeups,
    identifiers: Arc<dyn Fn() -> quinn_proto::ConnectionId + Send + Sync>,
    zeros: Bytes,
    telemetry: Telemetry,
    /// How quinn gets the controller of a connection.
    hand_over: HandOver,
    broken: Option<RunError>,
    // Reused, to avoid an allocation for each packet.
    buffer: Vec<u8>,
    arrived: Vec<Delivery>,
}

/// The endpoints of a flow of the plan.
#[derive(Debug, Default)]
struct FlowEnds {
    name: String,
    sources: usize,
    /// Number of sources that have data to send.
    active: usize,
    transfers: u32,
    datagrams: u64,
    /// The senders' view of their packets, if it is recorded.
    packets: Option<FlowPackets>,
}

/// Reports of controllers, until the network's records take them.
#[derive(Clone, Debug, Default)]
struct Telemetry(Arc<Mutex<Vec<(Timestamp, Measurement)>>>);

impl Probe for Telemetry {
    fn record(&mut self, now: Timestamp, measurement: Measurement) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((now, measurement));
    }
}

impl Exchange {
    /// Creates the network with hosts that have sent nothing yet; `names` are those of the flows.
    pub(super) fn new(network: ExternalNetwork, sources: Vec<Source>, names: Vec<String>, seed: u64) -> Self {
        let mut flows: Vec<FlowEnds> =
            names.into_iter().map(|name| FlowEnds { name, ..FlowEnds::default() }).collect();
        let mut wakeups = Wakeups::default();
        for (number, source) in sources.iter().enumerate() {
            flows[source.flow].sources += 1;
            wakeups.at(source.next_event(), Wakee::Source(number));
        }
        let server = sources.iter().find_map(|source| match &source.kind {
            Kind::Files(files) => Some(Arc::new(files.settings.server())),
            Kind::Datagrams(_) => None,
        });
        Self {
            measure_from: Some(network.measure_from()),
            network,
            origin: Origin::anywhere(),
            now: Timestamp::ZERO,
            hosts: Side::BOTH
                .map(|side| Host::new(side, seed, server.clone().filter(|_| side == Side::Receivers))),
            sources,
            flows,
            slots: Slots::default(),
            wakeups,
            identifiers: first_identifiers(),
            zeros: Bytes::from(vec![0; PIECE]),
            telemetry: Telemetry::default(),
            hand_over,
            broken: None,
            buffer: Vec::new(),
            arrived: Vec::new(),
        }
    }

    /// Records the senders' view of the packets of these flows.
    pub(super) fn keep_packets(&mut self, flows: &[bool]) {
        let count = flows.iter().filter(|kept| **kept).count();
        for (number, (flow, _)) in
            self.flows.iter_mut().zip(flows).enumerate().filter(|(_, (_, kept))| **kept)
        {
            flow.packets = Some(FlowPackets::new(Transmissions::new(number as u32, count)));
        }
    }

    /// Changes how quinn gets controllers.
    #[cfg(test)]
    pub(super) fn handing_over(mut self, hand_over: HandOver) -> Self {
        self.hand_over = hand_over;
        self
    }

    /// Returns the time of the next event.
    pub(super) fn next_event(&mut self) -> Timestamp {
        self.network.next_event().min(self.wakeups.next())
    }

    /// Processes all events that are due up to `now`, which is [`Exchange::next_event`] or the end.
    pub(super) fn step(&mut self, now: Timestamp) {
        self.now = now;
        if self.measure_from.take_if(|from| *from <= now).is_some() {
            for (flow, summary) in (0..).zip(self.summaries()) {
                self.network.set_flow_summary(flow, summary);
            }
        }
        let mut arrived = std::mem::take(&mut self.arrived);
        self.network.advance(now, &mut |delivery| arrived.push(delivery));
        self.forget_lost();
        for delivery in arrived.drain(..) {
            self.deliver(&delivery);
        }
        self.arrived = arrived;
        while let Some((due, wakee)) = self.wakeups.due(now) {
            match wakee {
                Wakee::Source(number) => self.wake_source(number),
                Wakee::Connection(side, handle) => self.wake_connection(side, handle, due),
            }
        }
    }

    /// Returns the tables.
    pub(super) fn finish(mut self) -> Result<Outcome, RunError> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        let summaries = self.summaries();
        let packets = self.flows.iter().filter_map(|flow| flow.packets.as_ref());
        let transmissions = packets.map(FlowPackets::take).collect();
        Ok(Outcome { transmissions, ..self.network.finish(&summaries) })
    }

    /// Returns the counts of the endpoints of each flow so far.
    fn summaries(&mut self) -> Vec<FlowSummary> {
        let mut summaries: Vec<FlowSummary> =
            self.flows.iter().map(|_| FlowSummary::begun(Timestamp::NEVER)).collect();
        for source in &self.sources {
            let summary = &mut summaries[source.flow];
            summary.start = summary.start.min(source.start);
            match &source.kind {
                Kind::Datagrams(_) => summary.sent_packets = self.flows[source.flow].datagrams,
                Kind::Files(files) => {
                    let mut totals = files.totals;
                    if let Some(sending) = &files.sending
                        && let Some(end) = self.hosts[Side::Senders.index()].end(sending.handle)
                    {
                        totals = totals.and(sending, &end.connection);
                    }
                    totals.add_to(summary);
                }
            }
        }
        summaries
    }

    fn deliver(&mut self, delivery: &Delivery) {
        let Delivery { at, packet } = *delivery;
        let (source, transfer, bytes) = match self.slots.take(packet.handle) {
            Some(Inside::Quic { source, transfer, bytes }) => (source, transfer, bytes),
            Some(Inside::Plain) => return self.network.on_goodput(packet.flow, u64::from(packet.size)),
            None => return,
        };
        let (side, from) = match packet.direction {
            Direction::Forward => (Side::Receivers, Side::Senders),
            Direction::Back => (Side::Senders, Side::Receivers),
        };
        let now = self.origin.instant(at);
        let host = &mut self.hosts[side.index()];
        self.buffer.clear();
        let event = host.endpoint.handle(
            now,
            address(from, source),
            None,
            codepoint(packet.ecn),
            bytes,
            &mut self.buffer,
        );
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(end) = host.end(handle) {
                    end.connection.handle_event(event);
                    self.drive(side, handle);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming, (source, transfer)),
            // Responses to packets without a connection: those in flight when their connection ended.
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    fn accept(&mut self, incoming: Incoming, (source, transfer): (usize, u32)) {
        let Kind::Files(files) = &self.sources[source].kind else { return };
        let server = Arc::new(files.settings.server());
        let now = self.origin.instant(self.now);
        let host = &mut self.hosts[Side::Receivers.index()];
        match host.endpoint.accept(incoming, now, &mut self.buffer, Some(server)) {
            Ok((handle, connection)) => {
                let end = End { connection, source, transfer, due: Timestamp::NEVER };
                host.put(handle, Box::new(end));
                self.drive(Side::Receivers, handle);
            }
            Err(error) => self.breaks(source, &error.cause.to_string()),
        }
    }

    fn wake_connection(&mut self, side: Side, handle: ConnectionHandle, due: Timestamp) {
        let now = self.origin.instant(self.now);
        if let Some(end) = self.hosts[side.index()].end(handle).filter(|end| end.due == due) {
            end.due = Timestamp::NEVER;
            end.connection.handle_timeout(now);
            self.drive(side, handle);
        }
    }

    fn wake_source(&mut self, number: usize) {
        let (now, source) = (self.now, &mut self.sources[number]);
        match &mut source.kind {
            Kind::Datagrams(datagrams) => {
                let flow = source.flow;
                while let Some(datagram) = datagrams.poll(now) {
                    self.flows[flow].datagrams += 1;
                    let handle = self.slots.keep(Inside::Plain);
                    self.network
                        .inject(now, foreign(flow, Direction::Forward, (datagram.size, Ecn::NotEct), handle));
                }
                let active = datagrams.is_active(now);
                let next = datagrams.next_event();
                self.network.set_flow_state(flow as u32, FlowState::unknown(active));
                self.wakeups.at(next, Wakee::Source(number));
                self.forget_lost();
            }
            Kind::Files(files) => {
                if source.stop <= now && !files.stopped {
                    files.stopped = true;
                    files.next_file = Timestamp::NEVER;
                    if let Some(handle) = files.sending.as_ref().map(|sending| sending.handle) {
                        self.close(Side::Senders, handle);
                    }
                } else if files.next_file <= now {
                    self.begin(number);
                }
                let next = self.sources[number].next_event();
                self.wakeups.at(next, Wakee::Source(number));
            }
        }
    }

    /// Begins the next file of a source, or writes more data to the connection of a source of writes.
    fn begin(&mut self, number: usize) {
        let Kind::Files(files) = &mut self.sources[number].kind else { return };
        let interval = files.files.next_interval();
        files.next_file = interval.map_or(Timestamp::NEVER, |interval| self.now + interval);
        let Some(sending) = &mut files.sending else { return self.open(number) };
        sending.add(files.files.next_size());
        let handle = sending.handle;
        self.drive(Side::Senders, handle);
    }

    /// Opens a connection for a source.
    fn open(&mut self, number: usize) {
        let now = self.origin.instant(self.now);
        let source = &mut self.sources[number];
        let Kind::Files(files) = &mut source.kind else { return };
        let flow = &mut self.flows[source.flow];
        let transfer = flow.transfers;
        flow.transfers += 1;
        flow.active += 1;
        let driver = files.settings.driver(files.random.split());
        let controller = Shared::new(driver, Box::new(self.telemetry.clone()));
        let mut factory = match files.settings.quinn() {
            Some(algorithm) => {
                let initial_window = files.settings.initial_window();
                quinns_own(algorithm, initial_window, controller.clone(), self.origin)
            }
            None => (self.hand_over)(controller.clone(), self.origin),
        };
        if let Some(packets) = &flow.packets {
            factory = Arc::new(LoggedFactory { of: factory, origin: self.origin, packets: packets.clone() });
        }
        let mut config = files.settings.client(factory);
        config.initial_dst_cid_provider(Arc::clone(&self.identifiers));
        let host = &mut self.hosts[Side::Senders.index()];
        match host.endpoint.connect(now, config, address(Side::Receivers, number), "receiver") {
            Ok((handle, connection)) => {
                let data = (files.files.next_size(), files.files.is_endless());
                files.sending = Some(Sending::new((handle, transfer), self.now, data, controller));
                let end = End { connection, source: number, transfer, due: Timestamp::NEVER };
                host.put(handle, Box::new(end));
                self.drive(Side::Senders, handle);
            }
            Err(error) => self.breaks(number, &error.to_string()),
        }
    }

    /// Does everything that a connection has to do at the current time.
    fn drive(&mut self, side: Side, handle: ConnectionHandle) {
        let now = self.origin.instant(self.now);
        let Some(mut end) = self.hosts[side.index()].take(handle) else { return };
        loop {
            let mut quiet = true;
            while let Some(event) = end.connection.poll_endpoint_events() {
                quiet = false;
                let drained = event.is_drained();
                if let Some(reply) = self.hosts[side.index()].endpoint.handle_event(handle, event) {
                    end.connection.handle_event(reply);
                }
                if drained {
                    return;
                }
            }
            while let Some(event) = end.connection.poll() {
                quiet = false;
                self.on_event(side, &mut end, event);
            }
            self.write(side, &mut end);
            self.buffer.clear();
            while let Some(transmit) = end.connection.poll_transmit(now, 1, &mut self.buffer) {
                quiet = false;
                self.send(side, &end, &transmit);
                self.write(side, &mut end);
            }
            if quiet {
                break;
            }
        }
        let due = end.connection.poll_timeout().map_or(Timestamp::NEVER, |due| self.origin.timestamp(due));
        // Overdue events are due now: time does not go backwards.
        let due = due.max(self.now);
        if due != std::mem::replace(&mut end.due, due) {
            self.wakeups.at(due, Wakee::Connection(side, handle));
        }
        let source = end.source;
        self.hosts[side.index()].put(handle, end);
        if side == Side::Senders {
            self.tell(source);
        }
    }

    fn write(&mut self, side: Side, end: &mut End) {
        if side == Side::Senders
            && let Some(sending) = sending(&mut self.sources, end)
        {
            sending.write(&mut end.connection, &self.zeros);
        }
    }

    /// Passes a datagram of a connection to the network.
    fn send(&mut self, side: Side, end: &End, transmit: &Transmit) {
        let source = &self.sources[end.source];
        let Kind::Files(files) = &source.kind else { return };
        let ecn = if files.settings.ecn { ecn(transmit.ecn) } else { Ecn::NotEct };
        let on_the_wire = HEADERS as u32 + transmit.size as u32; // the size of a datagram, below 64 kB
        let bytes = BytesMut::from(&self.buffer[..transmit.size]);
        self.buffer.clear();
        let handle = self.slots.keep(Inside::Quic { source: end.source, transfer: end.transfer, bytes });
        let direction = match side {
            Side::Senders => Direction::Forward,
            Side::Receivers => Direction::Back,
        };
        self.network.inject(self.now, foreign(source.flow, direction, (on_the_wire, ecn), handle));
        self.forget_lost();
    }

    fn on_event(&mut self, side: Side, end: &mut End, event: Event) {
        match (side, event) {
            (Side::Receivers, Event::Stream(StreamEvent::Opened { dir: Dir::Uni })) => {
                while let Some(stream) = end.connection.streams().accept(Dir::Uni) {
                    self.read(end, stream);
                }
            }
            (Side::Receivers, Event::Stream(StreamEvent::Readable { id })) => self.read(end, id),
            (Side::Senders, Event::Stream(StreamEvent::Finished { .. })) => self.complete(end),
            // A connection that is no longer used may end in any way.
            (_, Event::ConnectionLost { reason }) if sending(&mut self.sources, end).is_some() => {
                self.breaks(end.source, &reason.to_string());
            }
            _ => {}
        }
    }

    /// Reads received data, as the receiver's application.
    fn read(&mut self, end: &mut End, stream: StreamId) {
        let mut stream = end.connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(true) else { return };
        let mut bytes = 0;
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            bytes += chunk.bytes.len() as u64;
        }
        // Updates of flow control are sent when packets are requested.
        let _ = chunks.finalize();
        self.network.on_goodput(self.sources[end.source].flow as u32, bytes);
    }

    /// Ends a transfer: all of its file has arrived, and the sender knows it.
    fn complete(&mut self, end: &mut End) {
        let now = self.now;
        let source = &mut self.sources[end.source];
        let Kind::Files(files) = &mut source.kind else { return };
        let Some(sending) = files.sending.as_ref().filter(|sending| sending.transfer == end.transfer) else {
            return;
        };
        let (transfer, began, size) = (sending.transfer, sending.began, sending.size);
        self.network.on_completion(source.flow as u32, transfer, began, now, size);
        if !files.stopped
            && let Some(pause) = files.files.next_pause()
        {
            files.next_file = now + pause;
            self.wakeups.at(files.next_file, Wakee::Source(end.source));
        }
        self.end_connection(end);
    }

    /// Closes the connection of a source whose application stops before all data was sent.
    fn close(&mut self, side: Side, handle: ConnectionHandle) {
        let Some(mut end) = self.hosts[side.index()].take(handle) else { return };
        self.end_connection(&mut end);
        self.hosts[side.index()].put(handle, end);
        self.drive(side, handle);
    }

    fn end_connection(&mut self, end: &mut End) {
        let source = &mut self.sources[end.source];
        if let Kind::Files(files) = &mut source.kind
            && let Some(sending) = files.sending.take()
        {
            files.totals = files.totals.and(&sending, &end.connection);
            self.flows[source.flow].active -= 1;
        }
        end.connection.close(self.origin.instant(self.now), VarInt::from_u32(0), Bytes::new());
        self.tell(end.source);
    }

    /// Reports the state of a source's flow to the records. Of several simultaneous sources, only that they
    /// are active.
    fn tell(&mut self, number: usize) {
        let source = &self.sources[number];
        let flow = source.flow as u32;
        let ends = &self.flows[source.flow];
        let state = match &source.kind {
            Kind::Files(files) if ends.sources == 1 => {
                files.sending.as_ref().map_or(FlowState::unknown(false), Sending::state)
            }
            _ => FlowState::unknown(ends.active > 0),
        };
        self.network.set_flow_state(flow, state);
        let reported = std::mem::take(&mut *self.telemetry.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (at, measurement) in reported {
            self.network.probe(flow).record(at, measurement);
        }
    }

    fn breaks(&mut self, source: usize, reason: &str) {
        let flow = self.flows[self.sources[source].flow].name.clone();
        self.broken.get_or_insert(RunError::Broken { flow, reason: reason.to_owned() });
    }

    fn forget_lost(&mut self) {
        for lost in self.network.lost() {
            self.slots.take(lost.handle);
        }
    }
}

/// Returns the transfer of a source, if it uses the connection of this endpoint.
fn sending<'a>(sources: &'a mut [Source], end: &End) -> Option<&'a mut Sending> {
    let Kind::Files(files) = &mut sources[end.source].kind else { return None };
    files.sending.as_mut().filter(|sending| sending.transfer == end.transfer)
}

fn foreign(flow: usize, direction: Direction, (size, ecn): (u32, Ecn), handle: u32) -> ExternalPacket {
    ExternalPacket { flow: flow as u32, direction, size, ecn, path: PathHeader::None, handle }
}

const fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

const fn ecn(codepoint: Option<EcnCodepoint>) -> Ecn {
    match codepoint {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}
