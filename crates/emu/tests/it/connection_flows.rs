//! The flows of packets of connections, without a kernel.

use airpath_emu::{Connection, Exchange, Side};
use airpath_model::Timestamp;
use airpath_network::Outcome;
use airpath_plan::{Plan, RatePlan};
use proptest::prelude::*;

use crate::support::{MILLISECOND, constant, link, plan};

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// Returns a plan of two links; flow 0 uses the first, flow 1 the opposite one.
fn two_ways() -> Plan {
    let links =
        vec![link("there", constant(10_000_000), 5.0, 100), link("back", RatePlan::Unlimited, 5.0, 100)];
    let mut plan = plan(60, links, 2);
    let back = &mut plan.flows[1];
    (back.path, back.reverse_path, back.measured_at) = (vec![1], vec![0], 1);
    plan
}

fn exchange() -> Exchange {
    let plan = two_ways();
    Exchange::new(&plan, &[], 1, 4).unwrap().with_connections(&plan, [0, 1]).unwrap()
}

/// Returns a TCP packet of the connection between that port of the senders and port 80.
fn tcp(from: Side, port: u16, flags: u8, sequence: u32, payload: usize) -> Vec<u8> {
    let length = (40 + payload) as u16;
    let mut bytes = vec![0x45, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    for side in [from, from.other()] {
        bytes.extend(side.address(0).unwrap().octets());
    }
    let ports = if from == Side::Senders { [port, 80] } else { [80, port] };
    bytes.extend(ports.into_iter().flat_map(u16::to_be_bytes));
    bytes.extend(sequence.to_be_bytes());
    bytes.extend([0, 0, 0, 0, 5 << 4, flags]);
    bytes.resize(usize::from(length), 0);
    bytes
}

/// Sends packets, one each millisecond; returns the sides at which they leave.
fn carry(exchange: &mut Exchange, packets: &[(Side, Vec<u8>)]) -> Vec<(Side, Vec<u8>)> {
    let mut out = Vec::new();
    for (number, (side, bytes)) in (1..).zip(packets) {
        let now = Timestamp::from_nanos(number * MILLISECOND);
        exchange.advance(now, |_, side, bytes| out.push((side, bytes.to_vec())));
        let (slot, room) = exchange.room();
        room[..bytes.len()].copy_from_slice(bytes);
        exchange.accept(now, *side, slot, bytes.len());
    }
    let end = Timestamp::from_nanos(packets.len() as u64 * MILLISECOND + 1_000 * MILLISECOND);
    exchange.advance(end, |_, side, bytes| out.push((side, bytes.to_vec())));
    out
}

fn delivered(outcome: &Outcome) -> Vec<i64> {
    let flows = outcome.tables.iter().find(|table| table.name == "flows").unwrap();
    flows.integers("delivered_packets").to_vec()
}

fn finish(exchange: Exchange) -> Outcome {
    let summaries = exchange.summaries();
    exchange.into_network().finish(&summaries)
}

#[test]
fn each_direction_with_data_is_a_flow_and_acknowledgments_are_not() {
    use Side::{Receivers, Senders};
    let mut exchange = exchange();
    let packets = [
        (Senders, tcp(Senders, 4000, SYN, 1, 0)),
        (Receivers, tcp(Receivers, 4000, SYN | ACK, 9, 0)),
        (Senders, tcp(Senders, 4000, ACK, 2, 0)),
        (Senders, tcp(Senders, 4000, ACK, 2, 1000)),
        (Receivers, tcp(Receivers, 4000, ACK, 10, 0)),
        (Receivers, tcp(Receivers, 4000, ACK, 10, 500)),
        (Senders, tcp(Senders, 4000, ACK, 1002, 0)),
        (Senders, tcp(Senders, 4000, ACK, 1002, 1000)),
        (Senders, tcp(Senders, 4001, ACK, 7, 10)),
    ];
    let out = carry(&mut exchange, &packets);
    assert_eq!(out.len(), packets.len());
    for (side, bytes) in &packets {
        assert!(out.contains(&(side.other(), bytes.clone())), "{bytes:?} reached the wrong host");
    }
    let seen: Vec<_> =
        exchange.connections().iter().map(|one| (one.flow, one.from, one.connection)).collect();
    let between = |port| {
        let end = |side: Side, port| std::net::SocketAddrV4::new(side.address(0).unwrap(), port);
        Connection([end(Senders, port), end(Receivers, 80)])
    };
    assert_eq!(
        seen,
        [(2, Senders, between(4000)), (3, Receivers, between(4000)), (4, Senders, between(4001))]
    );
    let summaries = exchange.summaries();
    assert_eq!(summaries.iter().map(|flow| flow.sent_packets).collect::<Vec<_>>(), [0, 0, 2, 1, 1]);
    assert_eq!(summaries[3].start, Timestamp::from_nanos(6 * MILLISECOND));
    assert!(exchange.sent_by(&between(4001), Receivers).is_none(), "this side has sent nothing");
    assert_eq!(delivered(&finish(exchange)), [0, 0, 2, 1, 1]);
}

#[test]
fn a_new_connection_between_the_same_ports_is_another_flow() {
    let mut exchange = exchange();
    let from = Side::Senders;
    let packets = [
        tcp(from, 4000, SYN, 1, 0),
        tcp(from, 4000, SYN, 1, 0), // again, without an answer
        tcp(from, 4000, ACK, 2, 100),
        tcp(from, 4000, SYN, 70_000, 0),
        tcp(from, 4000, ACK, 70_001, 100),
        tcp(from, 4000, ACK, 70_101, 100),
    ];
    carry(&mut exchange, &packets.map(|bytes| (from, bytes)));
    assert_eq!(exchange.connections().len(), 2);
    let latest = exchange.connections()[0].connection;
    assert_eq!(exchange.sent_by(&latest, from).unwrap().0.flow, 3);
    assert_eq!(delivered(&finish(exchange)), [0, 0, 1, 2]);
}

#[test]
fn other_packets_stay_with_the_planned_flows() {
    let mut exchange = exchange();
    let datagram = |from| {
        let mut bytes = tcp(from, 4000, 0, 0, 100);
        bytes[9] = 17;
        (from, bytes)
    };
    let out = carry(
        &mut exchange,
        &[datagram(Side::Senders), datagram(Side::Receivers), datagram(Side::Receivers)],
    );
    assert_eq!(out.iter().filter(|(side, _)| *side == Side::Senders).count(), 2);
    assert!(exchange.connections().is_empty());
    assert_eq!(delivered(&finish(exchange)), [1, 2]);
}

#[test]
fn the_number_of_connections_is_limited() {
    let mut exchange = exchange();
    let packets: Vec<_> =
        (0..10_050_u16).map(|port| (Side::Senders, tcp(Side::Senders, port, ACK, 1, 10))).collect();
    let out = carry(&mut exchange, &packets);
    assert_eq!(out.len(), packets.len());
    assert_eq!((exchange.connections().len(), exchange.beyond_connections()), (10_000, 50));
    assert_eq!(delivered(&finish(exchange))[0], 50, "their packets are delivered all the same");
}

#[test]
fn flows_without_opposite_paths_are_rejected() {
    let plan = plan(
        60,
        vec![link("there", constant(1_000_000), 5.0, 10), link("back", RatePlan::Unlimited, 5.0, 10)],
        2,
    );
    for others in [[0, 1], [0, 2]] {
        let refused = Exchange::new(&plan, &[], 1, 4).unwrap().with_connections(&plan, others);
        assert!(refused.unwrap_err().to_string().contains("opposite ways"));
    }
}

proptest! {
    /// Every packet leaves at the other side, and is data of one flow or of none.
    #[test]
    fn every_packet_arrives_at_its_host(
        packets in prop::collection::vec((any::<bool>(), 0_u16..3, any::<u8>(), 0_u32..3, 0_usize..30), 1..100),
    ) {
        let mut exchange = exchange();
        let packets: Vec<_> = packets
            .into_iter()
            .map(|(forward, port, flags, sequence, payload)| {
                let from = if forward { Side::Senders } else { Side::Receivers };
                (from, tcp(from, port, flags, sequence, payload))
            })
            .collect();
        let out = carry(&mut exchange, &packets);
        for side in Side::BOTH {
            let sent = packets.iter().filter(|(from, _)| *from == side);
            let came = out.iter().filter(|(to, _)| *to == side.other());
            let contents = |(_, bytes): &(Side, Vec<u8>)| bytes.clone();
            prop_assert_eq!(sent.map(contents).collect::<Vec<_>>(), came.map(contents).collect::<Vec<_>>());
        }
        let data = packets.iter().filter(|(_, bytes)| bytes.len() > 40).count();
        prop_assert_eq!(exchange.counts().inside, 0);
        prop_assert_eq!(delivered(&finish(exchange)).iter().sum::<i64>(), data as i64);
    }
}
