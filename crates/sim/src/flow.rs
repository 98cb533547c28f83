//! Flows: a data source at one endpoint, a receiver at the other.

mod connection;
mod datagrams;
mod limit_meter;
mod segment_log;
mod watch;

use airpath_model::Timestamp;
use airpath_network::{
    Body, Context, Entry, FlowEnds, FlowRoutes, FlowState, FlowSummary, Packet, PacketPool, Recorder, Target,
    Transmissions,
};

use airpath_plan::workload::Datagrams;

use watch::Watch;

pub(crate) use connection::{ConnectionSetup, ConnectionSource};

/// One flow.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Its index in the list of flows.
    pub(crate) index: u32,
    /// Its number within the plan's source; nonzero only for flows that arrive at random.
    pub(crate) instance: u32,
    /// Start of its forward route in the route table.
    pub(crate) route: u32,
    /// Start of its reverse route.
    pub(crate) reverse_route: u32,
    /// The start time.
    pub(crate) start: Timestamp,
    /// Next wake-up of each endpoint.
    pub(crate) timers: [Timer; 2],
    /// Whether each endpoint may receive packets ahead of time, because it may send its responses ahead of
    /// time.
    pub(crate) ahead: [bool; 2],
    /// Its data source and receiver.
    pub(crate) kind: FlowKind,
    /// The additional records of its sender, if requested.
    watch: Option<Box<Watch>>,
}

/// The traffic of a flow.
#[derive(Debug)]
pub(crate) enum FlowKind {
    /// Data over transport connections.
    Connections(Box<ConnectionSource>),
    /// Datagrams to a receiver that only counts.
    Datagrams(Box<Datagrams>),
}

impl Flow {
    /// Creates a flow that has not begun, with its forward and reverse routes.
    pub(crate) fn new(index: u32, instance: u32, routes: [u32; 2], start: Timestamp, kind: FlowKind) -> Self {
        let [route, reverse_route] = routes;
        let (timers, ahead) = ([Timer { due: Timestamp::NEVER, set: Timestamp::ZERO }; 2], [false; 2]);
        Self { index, instance, route, reverse_route, start, timers, ahead, kind, watch: None }
    }

    /// Returns the properties of the two endpoints that links depend on.
    pub(crate) fn ends(&self) -> FlowEnds {
        let (reverse, are_independent) = match &self.kind {
            FlowKind::Connections(source) => (Some(self.reverse_route), source.opens_one_connection()),
            FlowKind::Datagrams(_) => (None, true),
        };
        FlowEnds {
            routes: FlowRoutes { forward: self.route, back: self.reverse_route },
            sends_over: [Some(self.route), reverse],
            are_independent,
            ahead: self.ahead,
        }
    }

    /// Runs the sender's work that is or may be due at `now`.
    pub(crate) fn wake_sender(&mut self, now: Timestamp, recorder: &mut Recorder) {
        if let FlowKind::Connections(source) = &mut self.kind {
            if let Some(watch) = &mut self.watch {
                watch.advance(now, source);
            }
            source.wake_sender(now, self.index, recorder);
        }
    }

    /// Runs the receiver's work that is due.
    pub(crate) fn wake_receiver(&mut self, now: Timestamp) {
        match &mut self.kind {
            FlowKind::Connections(source) => source.wake_receiver(now),
            FlowKind::Datagrams(_) => {}
        }
    }

    /// Returns the next data packet that may be sent at `now`; call it until it returns `None`.
    #[inline]
    pub(crate) fn poll_data(&mut self, now: Timestamp, context: &mut Context) -> Option<Packet> {
        let packet = match &mut self.kind {
            FlowKind::Connections(source) => source.poll_data(now, self.index, self.route, context),
            FlowKind::Datagrams(source) => {
                let datagram = source.poll(now)?;
                let contents = datagrams::packet(now, self.index, self.route, datagram);
                Some(context.pool.packet(contents))
            }
        }?;
        context.recorder.on_sent(self.index, u64::from(packet.size));
        if let Some(watch) = &mut self.watch {
            watch.on_packet(now, &packet);
        }
        Some(packet)
    }

    /// Returns the next acknowledgment that may be sent at `now`; call it until it returns `None`.
    #[inline]
    pub(crate) fn poll_acknowledgment(&mut self, now: Timestamp, pool: &mut PacketPool) -> Option<Packet> {
        match &mut self.kind {
            FlowKind::Connections(source) => {
                source.poll_acknowledgment(now, self.index, self.reverse_route, pool)
            }
            FlowKind::Datagrams(_) => None,
        }
    }

    /// Returns the endpoint at which a packet arrives.
    #[inline]
    pub(crate) fn reached_by(packet: &Packet) -> End {
        if let Body::Acknowledgment(_) = packet.body { End::Sender } else { End::Receiver }
    }

    /// Processes a packet of this flow at the end of its route. Returns the endpoint that it reached.
    pub(crate) fn receive(&mut self, now: Timestamp, packet: &mut Packet, recorder: &mut Recorder) -> End {
        let (connection, size) = (packet.connection, packet.size);
        match (&mut self.kind, &mut packet.body) {
            (FlowKind::Connections(source), Body::Segment { segment, sent_at }) => {
                let sent_at = *sent_at;
                let goodput = source.on_segment(now, connection, segment);
                recorder.on_received(now, sent_at, packet, goodput);
                End::Receiver
            }
            (FlowKind::Connections(source), Body::Acknowledgment(acknowledgment)) => {
                if let Some(watch) = &mut self.watch {
                    watch.on_acknowledgment(now, (connection, size), acknowledgment, source);
                }
                source.on_acknowledgment(now, connection, acknowledgment, self.index, recorder);
                End::Sender
            }
            (_, &mut Body::Datagram { sent_at, .. }) => {
                recorder.on_received(now, sent_at, packet, u64::from(packet.size));
                End::Receiver
            }
            _ => {
                debug_assert!(false, "a packet of a kind that its flow does not send");
                End::Receiver
            }
        }
    }

    /// Enables the log of the sender's packet events; call it before the flow starts. `flows` flows share the
    /// maximum number of records.
    pub(crate) fn keep_log(&mut self, flows: usize) {
        self.watch.get_or_insert_default().keep_log(Transmissions::new(self.index, flows));
    }

    /// Enables the measurement of the sender's limits; call it before the flow starts.
    pub(crate) fn measure_limits(&mut self) {
        self.watch.get_or_insert_default().measure_limits();
    }

    /// Returns the packet events observed by its sender, if recorded.
    pub(crate) fn into_log(self) -> Option<Transmissions> {
        self.watch.and_then(|watch| watch.into_log())
    }

    /// Records the limits of its sender in the interval that ends at `now`, if they are measured.
    pub(crate) fn record_limits(&mut self, now: Timestamp, recorder: &mut Recorder) {
        if let (Some(watch), FlowKind::Connections(source)) = (&mut self.watch, &self.kind) {
            watch.record_limits(now, source, self.index, recorder);
        }
    }

    /// Returns the sender's next wake-up time.
    pub(crate) fn next_sender_event(&self) -> Timestamp {
        match &self.kind {
            FlowKind::Connections(source) => source.next_sender_event(),
            FlowKind::Datagrams(source) => source.next_event(),
        }
    }

    /// Returns the receiver's next wake-up time.
    pub(crate) fn next_receiver_event(&self) -> Timestamp {
        match &self.kind {
            FlowKind::Connections(source) => source.next_receiver_event(),
            FlowKind::Datagrams(_) => Timestamp::NEVER,
        }
    }

    /// Returns the state for the series at `now`.
    pub(crate) fn state(&self, now: Timestamp) -> FlowState {
        match &self.kind {
            FlowKind::Connections(source) => source.state(),
            FlowKind::Datagrams(source) => FlowState::unknown(source.is_active(now)),
        }
    }

    /// Returns the counters for its row in the table of flows.
    pub(crate) fn summary(&self) -> FlowSummary {
        let begun = FlowSummary { instance: self.instance, ..FlowSummary::begun(self.start) };
        match &self.kind {
            FlowKind::Connections(source) => source.complete(begun),
            FlowKind::Datagrams(source) => FlowSummary { sent_packets: source.sent(), ..begun },
        }
    }
}

/// The wake-up time of an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// The time.
    pub(crate) due: Timestamp,
    /// The time at which it was set: of two timers that are due at one instant, the one that was set earlier
    /// comes first.
    pub(crate) set: Timestamp,
}

impl Timer {
    /// Returns the event of the timer for this target.
    #[inline]
    pub(crate) fn event(self, target: Target) -> Entry {
        Entry::new(self.due, self.set, target)
    }
}

/// One of the two endpoints of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The data sender.
    Sender,
    /// The data receiver.
    Receiver,
}

/// Both endpoints, in the order of their indices.
pub(crate) const ENDS: [End; 2] = [End::Sender, End::Receiver];

impl End {
    /// Returns its index: 0 or 1.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}
