//! Captures of a run, read back with an independent reader.

use crate::common::*;
use airpath_sim::plan::*;
use pcap_parser::{Block, PcapBlockOwned, PcapNGReader, traits::PcapReaderIterator};

/// (interface, time in ns, length on the wire, first bytes) of every packet, and the names of the interfaces.
type Packets = Vec<(u32, u64, u32, Vec<u8>)>;

fn read(capture: &[u8]) -> (Vec<String>, Packets) {
    let (mut names, mut packets) = (Vec::new(), Vec::new());
    let mut reader = PcapNGReader::new(1 << 16, capture).unwrap();
    loop {
        match reader.next() {
            Ok((length, PcapBlockOwned::NG(block))) => {
                match block {
                    Block::InterfaceDescription(interface) => {
                        assert_eq!(interface.if_tsresol, 9, "nanoseconds");
                        assert_eq!(interface.linktype.0, 101, "raw IP");
                        names.push(interface.if_name().unwrap().unwrap().to_owned());
                    }
                    Block::EnhancedPacket(packet) => {
                        let time = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                        packets.push((packet.if_id, time, packet.origlen, packet.data.to_vec()));
                    }
                    _ => {}
                }
                reader.consume(length);
            }
            Ok((length, _)) => reader.consume(length),
            Err(pcap_parser::PcapError::Eof) => break,
            Err(pcap_parser::PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }
    (names, packets)
}

#[test]
fn every_packet_that_reaches_an_observed_link_is_captured() {
    let mut bottleneck = link("bottleneck", mbps(5), 10.0);
    bottleneck.loss = 0.02;
    bottleneck.queue = packets(20);
    let mut source = flow("source", cubic());
    if let Some(transport) = &mut source.transport {
        // As on the wire: 1448 bytes of payload behind 52 bytes of headers.
        (transport.mss_bytes, transport.header_bytes, transport.ack_bytes) = (1448, 52, 52);
    }
    let udp = TrafficPlan::ConstantBitRate {
        bps: 500_000,
        packet_bytes: 300,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    let mut plan = plan(5, there_and_back(bottleneck, 10.0), vec![source, datagrams("udp", udp)]);
    plan.record.capture = vec![1, 0];
    let outcome = run(&plan, 1);
    let (names, packets) = read(outcome.capture.as_deref().unwrap());
    assert_eq!(names, ["back", "bottleneck"]);

    let links = table(&outcome, "links");
    for (interface, link) in [(0, 1), (1, 0)] {
        let seen = packets.iter().filter(|packet| packet.0 == interface);
        let (count, bytes) = seen.fold((0, 0), |sum, packet| (sum.0 + 1, sum.1 + i64::from(packet.2)));
        assert_eq!(count, links.integers("arrived_packets")[link]);
        if link == 0 {
            assert_eq!(bytes, links.integers("arrived_bytes")[link], "lengths on the wire");
        }
    }
    assert!(packets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "times run forward");
    // The first packet: TCP from 10.0.0.0 to 11.0.0.0, sequence number 1.
    let (_, time, length, data) = &packets[0];
    assert_eq!((*time, *length, data[0], data[9]), (0, 1500, 0x45, 6));
    assert_eq!(data[12..20], [10, 0, 0, 0, 11, 0, 0, 0]);
    assert_eq!(data[24..28], [0, 0, 0, 1]);
    let datagram = packets.iter().find(|packet| packet.3[9] == 17).unwrap();
    assert_eq!(datagram.2, 300);
    let selective = packets.iter().any(|packet| packet.0 == 0 && packet.3.len() > 52);
    assert!(selective, "losses are reported by SACK options");
}

#[test]
fn nothing_is_captured_unless_asked_for() {
    let plan = plan(1, there_and_back(link("bottleneck", mbps(5), 10.0), 10.0), vec![flow("a", newreno())]);
    assert_eq!(run(&plan, 1).capture, None);
}
