//! Conversion between packet bytes and the network. At the entrance: the flow of a packet and its header
//! fields for routers. At the exit: the fields that routers changed. Independent of devices and clocks.

mod outside;

use std::sync::Arc;

use airpath_model::{Ecn, LoadCode, PathHeader, Timestamp};
use airpath_network::{Direction, ExternalNetwork, ExternalPacket, FlowSummary, components};
use airpath_plan::{Input, Part, Plan, QueuePlan};

use crate::address::{MAX_FLOWS, Side, flow_of};
use crate::connection_flows::{Connection, ConnectionFlow, ConnectionFlows};
use crate::error::EmulationError;
use crate::packet::{Ipv4, XcpOption};
use crate::slots::{SLOT, Slots};

/// The network of a plan, with the bytes of the packets inside.
#[derive(Debug)]
pub struct Exchange {
    network: ExternalNetwork,
    slots: Slots,
    flows: Vec<Flow>,
    /// The connections, if these are separate flows.
    connections: Option<ConnectionFlows>,
    /// Whether the ECN fields of data packets are VCP's load codes, because a router of the plan uses VCP.
    load_codes: bool,
    counts: PacketCounts,
}

/// A flow of the plan.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Whether it has a route in the forward direction, and in the reverse one.
    forward: bool,
    back: bool,
    sent_packets: u64,
    first_packet: Option<Timestamp>,
}

/// Counts of packets by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Packets from hosts.
    pub sent: u64,
    /// Packets of these that belong to no flow of the plan, or have no reverse path: dropped.
    pub unknown: u64,
    /// Packets that reached the end of their route.
    pub delivered: u64,
    /// Packets that queues and channels of the network lost.
    pub lost: u64,
    /// Packets inside the network at its end.
    pub inside: u64,
}

impl Exchange {
    /// Creates the network of a plan, with initial space for that many packets.
    ///
    /// # Errors
    /// If the plan cannot be run or emulated.
    pub fn new(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        packets: usize,
    ) -> Result<Self, EmulationError> {
        Self::with_outside(plan, inputs, seed, packets, &[])
    }

    /// Creates the network of a plan in which external routers have the queues of the links `outside`
    /// ([`Exchange::next_out`]).
    ///
    /// # Errors
    /// If the plan cannot be run or emulated.
    pub fn with_outside(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        packets: usize,
        outside: &[usize],
    ) -> Result<Self, EmulationError> {
        if plan.flows.len() > MAX_FLOWS {
            return Err(EmulationError::not_emulated(
                Part::Run,
                "flows",
                format!(
                    "they are {} in all; accepted in an emulation: at most {MAX_FLOWS}, for which it has addresses",
                    plan.flows.len()
                ),
            ));
        }
        let network = ExternalNetwork::with_outside(plan, inputs, seed, outside)?;
        let load_codes = plan.links.iter().any(|link| {
            let QueuePlan::Router { protocol, .. } = &link.queue else { return false };
            // The network was built from the same protocol, so this succeeds.
            components().protocols.read(protocol, &()).is_ok_and(|protocol| protocol.needs().load_codes)
        });
        let flows = plan.flows.iter().map(|flow| Flow {
            forward: !flow.path.is_empty(),
            back: !flow.reverse_path.is_empty(),
            sent_packets: 0,
            first_packet: None,
        });
        Ok(Self {
            network,
            slots: Slots::new(packets),
            flows: flows.collect(),
            connections: None,
            load_codes,
            counts: PacketCounts::default(),
        })
    }

    /// Makes the TCP connections between the addresses of a flow of the plan, the first of `others`, separate
    /// flows. The first of `others` keeps all other packets of senders, the second those of receivers.
    ///
    /// # Errors
    /// If the plan has no such flows, or if they do not take opposite paths.
    pub fn with_connections(mut self, plan: &Plan, others: [u32; 2]) -> Result<Self, EmulationError> {
        let [there, back] = others.map(|flow| plan.flows.get(flow as usize));
        let opposite = there.zip(back).is_some_and(|(there, back)| {
            !there.path.is_empty()
                && !back.path.is_empty()
                && (&there.path, &there.reverse_path) == (&back.reverse_path, &back.path)
        });
        if !opposite {
            return Err(EmulationError::not_emulated(
                Part::Run,
                "flows",
                "connections need two flows of the plan that take opposite ways",
            ));
        }
        self.connections = Some(ConnectionFlows::new(others, plan.flows.len()));
        Ok(self)
    }

    /// Returns the network, for a caller that knows more about its flows.
    pub fn network(&mut self) -> &mut ExternalNetwork {
        &mut self.network
    }

    /// Returns space for the next packet; it is the same until a packet is accepted.
    pub fn room(&mut self) -> (u32, &mut [u8; SLOT]) {
        let slot = self.slots.take();
        (slot, self.slots.place(slot))
    }

    /// Gives back the space of a packet that was not received.
    pub fn leave(&mut self, slot: u32) {
        self.slots.give_back(slot);
    }

    /// Accepts a packet of `length` bytes, in that space, from a host at `now`. Call [`Exchange::advance`] up
    /// to `now` before.
    pub fn accept(&mut self, now: Timestamp, side: Side, slot: u32, length: usize) {
        self.counts.sent += 1;
        self.slots.keep(slot, length);
        let Some(packet) = self.describe(now, side, slot) else {
            self.counts.unknown += 1;
            self.slots.give_back(slot);
            return;
        };
        self.network.inject(now, packet);
        self.forget_lost();
    }

    /// Returns the time of the next event inside the network.
    pub fn next_event(&mut self) -> Timestamp {
        self.network.next_event()
    }

    /// Advances the network to `until`. Calls `deliver` for each packet to a host, with the time of its
    /// delivery, the host, and its bytes.
    pub fn advance(&mut self, until: Timestamp, mut deliver: impl FnMut(Timestamp, Side, &[u8])) {
        let Self { network, slots, counts, load_codes, connections, .. } = self;
        network.advance(until, &mut |delivery| {
            let slot = delivery.packet.handle;
            rewrite(slots.packet(slot), &delivery.packet, *load_codes);
            counts.delivered += 1;
            let (flow, direction) = (delivery.packet.flow, delivery.packet.direction);
            let side = match connections {
                Some(connections) => connections.destination(flow, direction),
                None => destination(direction),
            };
            deliver(delivery.at, side, slots.packet(slot));
            slots.give_back(slot);
        });
        self.forget_lost();
    }

    /// Calls `see` for each packet that reached a captured link since the last call, with the time, the
    /// number of the link, and the bytes as they were there. Call after each [`Exchange::accept`] and
    /// [`Exchange::advance`]: the next packet may reuse the space of one that has left.
    pub fn captured(&mut self, mut see: impl FnMut(Timestamp, u32, &[u8])) {
        let Self { network, slots, load_codes, .. } = self;
        for arrival in network.captured() {
            let slot = arrival.packet.handle;
            // Changes by routers are written into the bytes only when a packet leaves, and may be overwritten
            // until then.
            rewrite(slots.packet(slot), &arrival.packet, *load_codes);
            see(arrival.at, arrival.link, slots.packet(slot));
        }
    }

    /// Returns the counts of packets so far.
    pub fn counts(&self) -> PacketCounts {
        PacketCounts { inside: self.slots.taken() as u64, ..self.counts }
    }

    /// Returns the network's observations of each flow, and for connections the reports on their endpoints.
    pub fn summaries(&self) -> Vec<FlowSummary> {
        let of_plan = self.flows.iter().map(|flow| FlowSummary {
            sent_packets: flow.sent_packets,
            ..FlowSummary::begun(flow.first_packet.unwrap_or(Timestamp::NEVER))
        });
        of_plan.chain(self.connections().iter().map(|connection| connection.summary)).collect()
    }

    /// Returns the flows of connections, in the order of their indices; empty if connections are not separate
    /// flows.
    pub fn connections(&self) -> &[ConnectionFlow] {
        self.connections.as_ref().map_or(&[], ConnectionFlows::flows)
    }

    /// Returns the number of data packets that are in no connection's flow because there are too many.
    pub fn beyond_connections(&self) -> u64 {
        self.connections.as_ref().map_or(0, ConnectionFlows::beyond)
    }

    /// Returns the flow of `from` in a connection, if it has sent data, with the network.
    pub fn sent_by(
        &mut self,
        connection: &Connection,
        from: Side,
    ) -> Option<(&mut ConnectionFlow, &mut ExternalNetwork)> {
        Some((self.connections.as_mut()?.sent_by(connection, from)?, &mut self.network))
    }

    /// Returns the network, for its tables.
    pub fn into_network(self) -> ExternalNetwork {
        self.network
    }

    fn describe(&mut self, now: Timestamp, side: Side, slot: u32) -> Option<ExternalPacket> {
        let bytes: &[u8] = self.slots.packet(slot);
        let ip = Ipv4::read(bytes)?;
        let number = flow_of(side, ip.source, ip.destination)?;
        let planned = self.flows.get(number)?;
        let (number, direction) = match &mut self.connections {
            Some(connections) => {
                connections.flow_of((side, number as u32), (&ip, bytes), now, &mut self.network)?
            }
            None => (number as u32, planned.way_from(side)?),
        };
        if direction == Direction::Forward
            && let Some(flow) = self.flows.get_mut(number as usize)
        {
            flow.sent_packets += 1;
            flow.first_packet.get_or_insert(now);
        }
        let (ecn, path) = says(&ip, bytes, direction, self.load_codes);
        let length = bytes.len() as u32; // at most `SLOT`
        Some(ExternalPacket { flow: number, direction, size: length, ecn, path, handle: slot })
    }

    fn forget_lost(&mut self) {
        for lost in self.network.lost() {
            self.counts.lost += 1;
            self.slots.give_back(lost.handle);
        }
    }
}

impl Flow {
    /// Returns the direction of a packet from a side, if the flow has a route in it.
    fn way_from(&self, side: Side) -> Option<Direction> {
        match side {
            Side::Senders => self.forward.then_some(Direction::Forward),
            Side::Receivers => self.back.then_some(Direction::Back),
        }
    }
}

/// Returns the ECN field and the header for routers of a packet in that direction.
fn says(ip: &Ipv4, bytes: &[u8], direction: Direction, load_codes: bool) -> (Ecn, PathHeader) {
    if direction == Direction::Back {
        (ip.ecn, PathHeader::None)
    } else if let Some(option) = XcpOption::find(ip, bytes) {
        (ip.ecn, PathHeader::Xcp(option.header))
    } else if load_codes && ip.ecn.is_capable() {
        // The bits contain the load code, so no queue may mark.
        (Ecn::NotEct, PathHeader::Load(load_code(ip.ecn)))
    } else {
        (ip.ecn, PathHeader::None)
    }
}

/// Writes the fields that routers changed into the bytes of a packet.
fn rewrite(bytes: &mut [u8], packet: &ExternalPacket, load_codes: bool) {
    let Some(ip) = Ipv4::read(bytes) else { return };
    let ecn = match packet.path {
        PathHeader::Load(code) if load_codes => bits(code),
        _ => packet.ecn,
    };
    if ecn != ip.ecn {
        Ipv4::write_ecn(bytes, ecn);
    }
    if let PathHeader::Xcp(header) = packet.path
        && let Some(option) = XcpOption::find(&ip, bytes)
    {
        option.write_feedback(bytes, header.delta_throughput);
    }
}

const fn destination(direction: Direction) -> Side {
    match direction {
        Direction::Forward => Side::Receivers,
        Direction::Back => Side::Senders,
    }
}

/// Returns VCP's load code in the ECN field: 01 low load, 10 high load, 11 overload; 00 if the sender does
/// not use VCP.
const fn load_code(ecn: Ecn) -> LoadCode {
    match ecn {
        Ecn::NotEct | Ecn::Ect1 => LoadCode::Low,
        Ecn::Ect0 => LoadCode::High,
        Ecn::Ce => LoadCode::Overload,
    }
}

const fn bits(code: LoadCode) -> Ecn {
    match code {
        LoadCode::Low => Ecn::Ect1,
        LoadCode::High => Ecn::Ect0,
        LoadCode::Overload => Ecn::Ce,
    }
}
