//! Packet bytes at the entrance and the exit, without a kernel: logical time, conservation, changes by
//! routers.

#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

use std::net::Ipv4Addr;

use airpath_emu::{Exchange, PacketCounts, Side};
use airpath_model::{Duration, Timestamp};
use airpath_plan::*;
use proptest::prelude::*;

use crate::support::{MILLISECOND, constant, link, plan};

/// Returns the complement of the one's complement sum of RFC 1071: zero for bytes that contain their right
/// checksum.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for word in bytes.chunks(2) {
        sum += u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Returns an IPv4 packet without options, with the right header checksum.
fn packet(source: Ipv4Addr, destination: Ipv4Addr, ecn: u8, protocol: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    bytes[0] = 0x45;
    bytes[1] = ecn;
    bytes[2..4].copy_from_slice(&((20 + content.len()) as u16).to_be_bytes());
    bytes[8] = 64;
    bytes[9] = protocol;
    bytes[12..16].copy_from_slice(&source.octets());
    bytes[16..20].copy_from_slice(&destination.octets());
    let sum = checksum(&bytes).to_be_bytes();
    bytes[10..12].copy_from_slice(&sum);
    bytes.extend(content);
    bytes
}

fn of_flow(side: Side, flow: usize, ecn: u8, length: usize) -> Vec<u8> {
    let (source, destination) = (side.address(flow).unwrap(), side.other().address(flow).unwrap());
    packet(source, destination, ecn, 17, &vec![0; length - 20])
}

fn send(exchange: &mut Exchange, now: Timestamp, side: Side, bytes: &[u8]) {
    let (slot, room) = exchange.room();
    room[..bytes.len()].copy_from_slice(bytes);
    exchange.accept(now, side, slot, bytes.len());
}

/// Returns a plan of a link with queueing, losses and jitter, and a reverse path.
fn lossy() -> Plan {
    let there = LinkPlan {
        loss: 0.05,
        jitter_ns: Some(Draw::Exponential { mean: 1e6 }),
        ..link("there", constant(8_000_000), 3.0, 20)
    };
    plan(20, vec![there, link("back", constant(2_000_000), 3.0, 20)], 3)
}

fn assert_all_accounted_for(counts: PacketCounts) {
    assert_eq!(counts.sent, counts.unknown + counts.delivered + counts.lost + counts.inside, "{counts:?}");
}

type Departure = (Timestamp, Side, Vec<u8>);

/// Returns the departures with a driver that is late: after each packet it advances the network only after
/// the time in `late`, unless the next packet arrives first.
fn departures(packets: &[(u64, bool, usize, usize)], late: &[u64]) -> (Vec<Departure>, PacketCounts) {
    let mut exchange = Exchange::new(&lossy(), &[], 7, 4).unwrap();
    let mut left = Vec::new();
    let mut now = Timestamp::ZERO;
    for (number, &(gap, forward, flow, length)) in packets.iter().enumerate() {
        let next = now + Duration::from_nanos(gap);
        if let Some(&late) = late.get(number) {
            while exchange.next_event() < next {
                let look = (exchange.next_event() + Duration::from_nanos(late)).min(next);
                exchange.advance(look, |at, side, bytes| left.push((at, side, bytes.to_vec())));
            }
        }
        now = next;
        exchange.advance(now, |at, side, bytes| left.push((at, side, bytes.to_vec())));
        let side = if forward { Side::Senders } else { Side::Receivers };
        send(&mut exchange, now, side, &of_flow(side, flow, 0, length));
        assert_all_accounted_for(exchange.counts());
    }
    exchange.advance(now + Duration::from_secs(1), |at, side, bytes| left.push((at, side, bytes.to_vec())));
    let counts = exchange.counts();
    assert_all_accounted_for(counts);
    assert_eq!(counts.inside, 0, "a second later the network is empty");
    (left, counts)
}

proptest! {
    /// The lateness of the driver never changes the model: neither the departing packets nor their times
    /// depend on it.
    #[test]
    fn departures_do_not_depend_on_polling_times(
        packets in prop::collection::vec((0_u64..3_000_000, prop::bool::weighted(0.8), 0_usize..3, 28_usize..1501), 1..120),
        late in prop::collection::vec(0_u64..20_000_000, 120),
    ) {
        let punctual = departures(&packets, &vec![0; packets.len()]);
        let seldom = departures(&packets, &late);
        prop_assert_eq!(&punctual, &departures(&packets, &[]));
        prop_assert_eq!(punctual, seldom);
    }

    /// A host may send any bytes.
    #[test]
    fn arbitrary_bytes_do_not_panic(
        packets in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..100), any::<bool>()), 1..60),
    ) {
        let mut exchange = Exchange::new(&lossy(), &[], 7, 4).unwrap();
        for (number, (forward, mut bytes, addressed)) in (0..).zip(packets) {
            let side = if forward { Side::Senders } else { Side::Receivers };
            if addressed && bytes.len() >= 20 {
                // Valid addresses and length of a flow, arbitrary other bytes.
                let good = of_flow(side, 1, 0, bytes.len());
                bytes[..4].copy_from_slice(&good[..4]);
                bytes[12..20].copy_from_slice(&good[12..20]);
            }
            let now = Timestamp::from_nanos(number * MILLISECOND);
            exchange.advance(now, |_, _, _| ());
            send(&mut exchange, now, side, &bytes);
        }
        exchange.advance(Timestamp::from_nanos(5_000 * MILLISECOND), |_, _, _| ());
        assert_all_accounted_for(exchange.counts());
        prop_assert_eq!(exchange.counts().inside, 0);
    }
}

#[test]
fn packets_of_no_flow_are_discarded() {
    let mut exchange = Exchange::new(&lossy(), &[], 7, 4).unwrap();
    let side = Side::Senders;
    for bytes in [
        of_flow(side, 3, 0, 100),              // the plan has three flows
        of_flow(Side::Receivers, 0, 0, 100),   // from the other side
        of_flow(side, 0, 0, 100)[..99].into(), // truncated
        vec![0x60; 60],                        // IPv6
    ] {
        send(&mut exchange, Timestamp::ZERO, side, &bytes);
    }
    exchange.advance(Timestamp::from_nanos(1_000 * MILLISECOND), |_, _, bytes| panic!("{bytes:?} came out"));
    assert_eq!(exchange.counts(), PacketCounts { sent: 4, unknown: 4, ..PacketCounts::default() });
}

/// Returns a plan whose first link has a router.
fn routed(protocol: ProtocolPlan, source: SourcePlan) -> Plan {
    let queue = QueuePlan::Router { limit_bytes: None, limit_packets: Some(50), protocol, source };
    let there = LinkPlan { queue, ..link("there", constant(10_000_000), 5.0, 50) };
    plan(10, vec![there, link("back", RatePlan::Unlimited, 5.0, 50)], 2)
}

/// Sends packets of flow 0 at twice the link's rate for two seconds; returns those that leave.
fn overload(plan: &Plan, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut exchange = Exchange::new(plan, &[], 7, 4).unwrap();
    let mut out = Vec::new();
    let spacing = bytes.len() as u64 * 8 * 50; // ns at 20 Mbit/s
    for number in 0..2_000_000_000 / spacing {
        let now = Timestamp::from_nanos(number * spacing);
        exchange.advance(now, |_, _, bytes| out.push(bytes.to_vec()));
        send(&mut exchange, now, Side::Senders, bytes);
    }
    assert_all_accounted_for(exchange.counts());
    out
}

#[test]
fn a_vcp_router_raises_the_code_in_the_ecn_field() {
    let vcp = ProtocolPlan::named("vcp");
    let plan = routed(vcp, SourcePlan::named("configured").with("capacity", 10_000_000));
    for (sent, expected) in [(0b01, [0b01, 0b11]), (0b10, [0b10, 0b11]), (0b11, [0b11; 2]), (0b00, [0b00; 2])]
    {
        let out = overload(&plan, &of_flow(Side::Senders, 0, sent, 1500));
        let codes = [out.first().unwrap()[1] & 3, out.last().unwrap()[1] & 3];
        assert_eq!(codes, expected, "sent with {sent:02b}: at first, and in overload");
        assert!(out.iter().all(|bytes| checksum(&bytes[..20]) == 0));
    }
}

#[test]
fn an_xcp_router_lowers_the_feedback_in_the_option() {
    let xcp = ProtocolPlan::named("xcp");
    let plan = routed(xcp, SourcePlan::named("configured").with("capacity", 10_000_000));
    let asked = 1_000_000_i32;
    let mut segment = vec![0; 20];
    segment[12] = 10 << 4;
    segment.extend([253, 20, 0x41, 0x58, 1, 0, 0, 0]);
    segment.extend(20_000_u32.to_be_bytes());
    segment.extend(2_500_000_u32.to_be_bytes());
    segment.extend(asked.to_be_bytes());
    segment.resize(1480, 0x55);
    let addresses = Side::BOTH.map(|side| side.address(0).unwrap());
    // As the sender's stack does: the checksum over a pseudo header and the segment.
    let pseudo = |segment: &[u8]| {
        let [source, destination] = addresses.map(|address| address.octets());
        [&source[..], &destination[..], &[0, 6], &(segment.len() as u16).to_be_bytes(), segment].concat()
    };
    let sum = checksum(&pseudo(&segment)).to_be_bytes();
    segment[16..18].copy_from_slice(&sum);
    let out = overload(&plan, &packet(addresses[0], addresses[1], 0, 6, &segment));
    let feedback = |bytes: &[u8]| i32::from_be_bytes(*bytes[56..].first_chunk().unwrap());
    assert!(out.iter().all(|bytes| checksum(&pseudo(&bytes[20..])) == 0), "a checksum is wrong");
    assert!(out.iter().all(|bytes| feedback(bytes) <= asked));
    assert!(feedback(out.last().unwrap()) < 0, "{} in overload", feedback(out.last().unwrap()));
}

/// Losses of chains are compared with their expectation, for any dynamics of the chain, including repeats of
/// the link.
#[test]
fn channels_report_expected_losses() {
    let twice = Some(ArqPlan::named("selective-repeat").with("retries", 2).with("delay", MILLISECOND));
    let by_packet = BurstPlan::named("gilbert").with("mean_loss", 0.1).with("mean_burst", 5.0);
    let by_time = by_packet.clone().with("clock", "time").with("step", MILLISECOND);
    let by_bit = BurstPlan::named("gilbert-elliott").with("clock", "bit");
    let by_bit = by_bit.with("gamma", 0.9999).with("beta", 0.999).with("eps_bad", 0.001);
    for (bursts, arq) in [(by_packet, None), (by_time.clone(), None), (by_time, twice), (by_bit, None)] {
        let is_repaired = arq.is_some();
        let there =
            LinkPlan { bursts: Some(bursts.clone()), arq, ..link("there", constant(8_000_000), 1.0, 100) };
        let plan = plan(20, vec![there, link("back", constant(8_000_000), 1.0, 100)], 1);
        let mut exchange = Exchange::new(&plan, &[], 1, 4).unwrap();
        for packet in 0..2000 {
            let now = Timestamp::ZERO + Duration::from_millis(5) * packet;
            exchange.advance(now, |_, _, _| ());
            send(&mut exchange, now, Side::Senders, &of_flow(Side::Senders, 0, 0, 1000));
        }
        let end = exchange.network().end();
        exchange.advance(end, |_, _, _| ());
        let lost = exchange.counts().lost;
        let damage = exchange.network().damage(0).unwrap();
        let repeats = damage.packets - 2000;
        assert_eq!(repeats > 0, is_repaired);
        assert_eq!(damage.damaged, lost + repeats, "every corrupted packet was repeated or dropped");
        let z = (damage.damaged as f64 - damage.expected) / damage.variance.sqrt();
        assert!(damage.variance > 20.0 && z.abs() < 5.0, "{bursts:?}: {z} standard deviations, {damage:?}");
        assert_eq!(exchange.network().damage(1), None);
    }
}

/// A capture shows a packet at each link as the previous routers left it, not as it leaves the network.
#[test]
fn captured_packets_are_those_at_their_link() {
    let management = ManagementPlan::named("codel")
        .with("target", 1)
        .with("interval", 1)
        .with("packet", 100)
        .with("ecn", true);
    let queue = QueuePlan::Managed { limit_bytes: None, limit_packets: Some(100), management };
    let marking = LinkPlan { queue, ..link("marking", constant(8_000_000), 1.0, 100) };
    let links = vec![
        marking,
        link("back", constant(8_000_000), 1.0, 10),
        link("after", constant(80_000_000), 1.0, 100),
    ];
    let mut plan = plan(1, links, 1);
    plan.flows[0].path = vec![0, 2];
    plan.record.capture = vec![0, 2];
    let mut exchange = Exchange::new(&plan, &[], 1, 4).unwrap();
    let mut seen = Vec::new();
    let mut see = |exchange: &mut Exchange| {
        exchange.captured(|at, link, bytes| {
            seen.push((at, link, bytes[1] & 3, checksum(&bytes[..20]), bytes.len()));
        });
    };
    for _ in 0..40 {
        send(&mut exchange, Timestamp::ZERO, Side::Senders, &of_flow(Side::Senders, 0, 2, 1000));
        see(&mut exchange);
    }
    let mut marked_at_the_end = 0;
    let end = exchange.network().end();
    exchange.advance(end, |_, _, bytes| marked_at_the_end += usize::from(bytes[1] & 3 == 3));
    see(&mut exchange);
    assert_eq!(seen.len(), 80);
    assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0), "timestamps do not decrease");
    assert!(seen.iter().all(|&(_, _, _, sum, length)| (sum, length) == (0, 1000)));
    let marked = |link| seen.iter().filter(|&&(_, at, ecn, ..)| at == link && ecn == 3).count();
    assert!(marked_at_the_end > 0);
    assert_eq!((marked(0), marked(2)), (0, marked_at_the_end));
}
