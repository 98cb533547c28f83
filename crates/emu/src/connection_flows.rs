//! TCP connections as separate flows: the flow of each packet, and the kernel's report on each connection.
//!
//! A connection is one flow for each side that sends data in it. A packet with data belongs to the flow of
//! its sender. A packet without data is an acknowledgment and takes the reverse path of the other side's
//! flow.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use airpath_model::Timestamp;
use airpath_network::{Direction, ExternalNetwork, FlowSummary};

use crate::address::Side;
use crate::packet::{Ipv4, Tcp};

/// A TCP connection over the emulated network: its address and port at each side, by [`Side::index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection(pub [SocketAddrV4; 2]);

/// The data that one side sends in a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionFlow {
    /// Its index in the tables.
    pub flow: u32,
    /// The connection.
    pub connection: Connection,
    /// The side that sends the data.
    pub from: Side,
    /// Congestion control of its sender, by the kernel's name; `None` if the kernel was not queried in time.
    pub congestion_control: Option<String>,
    /// The summary of its endpoints: the kernel's report, or, before that, only its start and its number of
    /// packets.
    pub summary: FlowSummary,
    /// Time for which its sender had data to send, in seconds; NaN if the kernel does not report it.
    pub busy_s: f64,
    /// Whether the kernel has reported on it.
    pub told: bool,
}

/// Largest number of flows of connections. Each takes memory of the link thread, and time at the end of each
/// interval of the series.
pub(crate) const MAX_CONNECTION_FLOWS: usize = 10_000;

/// All connections of a network in which connections are separate flows.
#[derive(Debug)]
pub(crate) struct ConnectionFlows {
    /// The flows of the plan for all other packets of each side. They take opposite paths.
    others: [u32; 2],
    of: BTreeMap<Connection, Opened>,
    /// Flows in the order of their indices, which follow those of the plan.
    flows: Vec<ConnectionFlow>,
    first: u32,
    /// Data packets that are in no connection's flow because there are too many.
    beyond: u64,
}

/// A connection in which data was sent.
#[derive(Clone, Copy, Debug)]
struct Opened {
    /// If it was opened with data, the sequence number of the first byte. A SYN between the same ports with
    /// another number, or after data, opens a new connection.
    opens: Option<u32>,
    /// The flow of each side's data, if it has sent any.
    flows: [Option<u32>; 2],
}

impl ConnectionFlows {
    /// Creates the state of a network with `flows` flows, of which `others` are for packets outside
    /// connections.
    pub(crate) fn new(others: [u32; 2], flows: usize) -> Self {
        let first = flows as u32; // at most `MAX_FLOWS`
        Self { others, of: BTreeMap::new(), flows: Vec::new(), first, beyond: 0 }
    }

    /// Returns the flow of a packet of the plan's flow `flow`, and its direction along it; a new flow is
    /// added to the network. Returns `None` if the packet belongs to no flow.
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

    /// Returns the side at which packets along a flow in a direction leave.
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

    /// Returns the flow of `from` in a connection, if it has sent data.
    pub(crate) fn sent_by(&mut self, connection: &Connection, from: Side) -> Option<&mut ConnectionFlow> {
        let flow = self.of.get(connection)?.flows[from.index()]?;
        self.known(flow)
    }

    /// Returns all flows, in the order of their indices.
    pub(crate) fn flows(&self) -> &[ConnectionFlow] {
        &self.flows
    }

    /// Returns the number of data packets that are in no connection's flow because there are too many.
    pub(crate) const fn beyond(&self) -> u64 {
        self.beyond
    }

    fn known(&mut self, flow: u32) -> Option<&mut ConnectionFlow> {
        self.flows.get_mut(flow.checked_sub(self.first)? as usize)
    }
}

impl Connection {
    /// Returns the connection between an endpoint at `side` and one across the network.
    pub fn between(side: Side, here: SocketAddrV4, there: SocketAddrV4) -> Self {
        match side {
            Side::Senders => Self([here, there]),
            Side::Receivers => Self([there, here]),
        }
    }
}
