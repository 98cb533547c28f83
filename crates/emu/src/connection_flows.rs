//! TCP connections that are flows of their own: which packet belongs to which, and what the kernel says of them.
//!
//! A connection is one flow for each side that sends data in it. A packet with data belongs to the flow of its sender; one
//! without, an acknowledgment, goes back along the flow of the other side.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use airpath_model::Timestamp;
use airpath_network::{Direction, ExternalNetwork, FlowSummary};

use crate::address::Side;
use crate::packet::{Ipv4, Tcp};

/// A TCP connection over the emulated network: its address and port at each side, by [`Side::index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection(pub [SocketAddrV4; 2]);

/// What one side sends in a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionFlow {
    /// Its number in the tables.
    pub flow: u32,
    /// The connection.
    pub connection: Connection,
    /// Where its data comes from.
    pub from: Side,
    /// The congestion control of its sender, by the kernel's name; `None` where the kernel was not asked in time.
    pub congestion_control: Option<String>,
    /// What is known at its ends: of the kernel once that has told, else only when it began and how many packets it sent.
    pub summary: FlowSummary,
    /// How long its sender had something to send, seconds; NaN where the kernel does not tell.
    pub busy_s: f64,
    /// Whether the kernel has told of it.
    pub told: bool,
}

/// Most connections' flows. Each costs the link thread some memory, and time at the end of each interval of the series.
pub(crate) const MAX_CONNECTION_FLOWS: usize = 10_000;

/// All connections of a network whose connections are flows of their own.
#[derive(Debug)]
pub(crate) struct ConnectionFlows {
    /// The flows of the plan that stand for everything else that each side sends. They take opposite ways.
    others: [u32; 2],
    of: BTreeMap<Connection, Opened>,
    /// In the order of their numbers, which follow those of the plan.
    flows: Vec<ConnectionFlow>,
    first: u32,
    /// Packets with data that are in no connection's flow because there are too many.
    beyond: u64,
}

/// A connection in which data was sent.
#[derive(Clone, Copy, Debug)]
struct Opened {
    /// Where it was opened with data, the number of the first byte. Who opens one between the same ports with another number,
    /// or after data, opens a new one.
    opens: Option<u32>,
    /// For each side the flow of what it sends, once it has.
    flows: [Option<u32>; 2],
}

impl ConnectionFlows {
    /// For a network with `flows` flows, of which `others` stand for what is no connection's data.
    pub(crate) fn new(others: [u32; 2], flows: usize) -> Self {
        let first = flows as u32; // at most MAX_FLOWS
        Self { others, of: BTreeMap::new(), flows: Vec::new(), first, beyond: 0 }
    }

    /// The flow of a packet of the plan's flow number `flow`, and which way along it; a flow that is new is added to the
    /// network. `None` where the packet belongs to none.
    pub(crate) fn flow_of(
        &mut self,
        (side, flow): (Side, u32),
        (ip, bytes): (&Ipv4, &[u8]),
        now: Timestamp,
        network: &mut ExternalNetwork,
    ) -> Option<(u32, Direction)> {
        if flow != self.others[0] {
            return None;
        }
        let (own, opposite) = (side.index(), side.other().index());
        let Some(tcp) = Tcp::read(ip, bytes) else { return Some((self.others[own], Direction::Forward)) };
        let connection = Connection::between(
            side,
            SocketAddrV4::new(ip.source, tcp.source),
            SocketAddrV4::new(ip.destination, tcp.destination),
        );
        if let Some(number) = tcp.opens
            && self.of.get(&connection).is_some_and(|opened| opened.opens != Some(number))
        {
            self.of.remove(&connection);
        }
        let flows = self.of.get(&connection).map_or([None; 2], |opened| opened.flows);
        if tcp.payload == 0 {
            return Some((flows[opposite].unwrap_or(self.others[opposite]), Direction::Back));
        }
        let flow = match flows[own] {
            Some(flow) => flow,
            None if self.flows.len() == MAX_CONNECTION_FLOWS => {
                self.beyond += 1;
                self.others[own]
            }
            None => {
                let flow = network.add_flow(self.others[own]);
                let opened = Opened { opens: tcp.opens, flows: [None; 2] };
                self.of.entry(connection).or_insert(opened).flows[own] = Some(flow);
                self.flows.push(ConnectionFlow {
                    flow,
                    connection,
                    from: side,
                    congestion_control: None,
                    summary: FlowSummary::begun(now),
                    busy_s: f64::NAN,
                    told: false,
                });
                flow
            }
        };
        if let Some(known) = self.known(flow)
            && !known.told
        {
            known.summary.sent_packets += 1;
        }
        Some((flow, Direction::Forward))
    }

    /// Where packets that go along a flow in a direction come out.
    pub(crate) fn destination(&self, flow: u32, direction: Direction) -> Side {
        let from = match flow.checked_sub(self.first) {
            Some(place) => self.flows[place as usize].from,
            None if flow == self.others[0] => Side::Senders,
            None => Side::Receivers,
        };
        match direction {
            Direction::Forward => from.other(),
            Direction::Back => from,
        }
    }

    /// What `from` sends in a connection, if it has sent anything.
    pub(crate) fn sent_by(&mut self, connection: &Connection, from: Side) -> Option<&mut ConnectionFlow> {
        let flow = self.of.get(connection)?.flows[from.index()]?;
        self.known(flow)
    }

    /// All flows, in the order of their numbers.
    pub(crate) fn flows(&self) -> &[ConnectionFlow] {
        &self.flows
    }

    /// Packets with data that are in no connection's flow because there are too many.
    pub(crate) const fn beyond(&self) -> u64 {
        self.beyond
    }

    fn known(&mut self, flow: u32) -> Option<&mut ConnectionFlow> {
        self.flows.get_mut(flow.checked_sub(self.first)? as usize)
    }
}

impl Connection {
    /// Between an end at `side` and another across the network.
    pub fn between(side: Side, here: SocketAddrV4, there: SocketAddrV4) -> Self {
        match side {
            Side::Senders => Self([here, there]),
            Side::Receivers => Self([there, here]),
        }
    }
}
