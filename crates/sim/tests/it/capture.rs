//! Captures of a run, read with an independent reader.

use crate::common::*;
use airpath_sim::plan::*;
use pcap_parser::{Block, PcapBlockOwned, PcapNGReader, traits::PcapReaderIterator};

/// (interface, time in ns, length on the wire, first bytes) of every packet.
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
fn every_packet_that_arrives_at_an_observed_link_is_captured() {
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
    let mut plan = plan(5, round_trip_links(bottleneck, 10.0), vec![source, datagrams("udp", udp)]);
    plan.record.capture = vec![1, 0];
    let outcome = run(&plan, 1);
    let (names, packets) = read(outcome.capture.as_deref().unwrap());
    assert_eq!(names, ["back", "bottleneck"]);

    let links = table(&outcome, "links");
    // SYN, SYN-ACK and the last acknowledgment come first; no link carried them.
    let packets = &packets[3..];
    for (interface, link) in [(0, 1), (1, 0)] {
        let seen = packets.iter().filter(|packet| packet.0 == interface);
        let (count, bytes) = seen.fold((0, 0), |sum, packet| (sum.0 + 1, sum.1 + i64::from(packet.2)));
        assert_eq!(count, links.integers("arrived_packets")[link]);
        if link == 0 {
            assert_eq!(bytes, links.integers("arrived_bytes")[link], "lengths on the wire");
        }
    }
    assert!(packets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "timestamps do not decrease");
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

/// Returns the interface (0 for the reverse path), the time in ns, and the TCP header without ports of the
/// three packets of a handshake.
fn handshake(start_ms: u64, change: impl Fn(&mut TransportPlan)) -> Vec<(u32, u64, Vec<u8>)> {
    let mut source = flow("source", cubic());
    source.start_ns = Draw::Constant { value: (start_ms * MILLISECOND) as f64 };
    let transport = source.transport.as_mut().unwrap();
    (transport.mss_bytes, transport.header_bytes, transport.ack_bytes) = (1448, 52, 52);
    change(transport);
    let early = datagrams(
        "udp",
        TrafficPlan::PoissonDatagrams { bps: 800_000, packet_bytes: Draw::Constant { value: 100.0 } },
    );
    // 60 bytes take 0.1 ms on the reverse path, and 0.048 ms on the forward path.
    let links = vec![
        link("there", mbps(10), 20.0),
        link("back", RatePlan::Constant(ConstantConfig { bps: 4_800_000 }), 30.0),
    ];
    let mut plan = plan(1, links, vec![source, early]);
    plan.record.capture = vec![1, 0];
    let (_, packets) = read(run(&plan, 1).capture.as_deref().unwrap());
    assert!(packets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "timestamps do not decrease");
    let tcp: Vec<_> = packets.into_iter().filter(|packet| packet.3[9] == 6).collect();
    assert_eq!(tcp[3].1, start_ms * MILLISECOND, "the first data");
    assert_eq!(tcp[3].3[24..28], [0, 0, 0, 1], "is behind the SYN, which has number 0");
    assert!(tcp[..3].iter().all(|packet| packet.2 as usize == packet.3.len()), "no payload");
    let of = |packet: &(u32, u64, u32, Vec<u8>)| (packet.0, packet.1, packet.3[32..].to_vec());
    tcp[..3].iter().map(of).collect()
}

#[test]
fn a_connection_opens_one_base_round_trip_before_its_data() {
    let seen = handshake(200, |transport| transport.receive_window_bytes = 200_000);
    let at = |ns: u64| 200 * MILLISECOND - ns;
    let times: Vec<_> = seen.iter().map(|(interface, time, _)| (*interface, *time)).collect();
    // The SYN-ACK passes the entrance of the reverse path 30.1 ms before the data is sent.
    assert_eq!(times, [(1, at(50_148_000)), (0, at(30_100_000)), (1, at(0))]);
    let options: Vec<_> = seen.iter().map(|(.., header)| header[8..].to_vec()).collect();
    let milliseconds = [149, 169, 200];
    assert_eq!(options[0], [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, milliseconds[0], 0, 0, 0, 0, 1, 3, 3, 0]);
    // 200 000 >> 2 is the first that fits into 16 bits.
    let stamps = [milliseconds[1], 0, 0, 0, milliseconds[0]];
    assert_eq!(options[1][..11], [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0]);
    assert_eq!(options[1][11..], [&stamps[..], &[1, 3, 3, 2]].concat());
    assert_eq!(options[2], [1, 1, 8, 10, 0, 0, 0, milliseconds[2], 0, 0, 0, milliseconds[1]]);
    let flags: Vec<_> = seen.iter().map(|(.., header)| (header[1], header[2..4].to_vec())).collect();
    assert_eq!(
        flags,
        [0x02, 0x12, 0x10].map(|flags| (flags, vec![255, 255])),
        "the largest window, not scaled"
    );
}

#[test]
fn a_connection_that_starts_with_the_run_has_an_immediate_handshake() {
    let seen = handshake(50, |transport| {
        transport.recovery = RecoveryPlan::Newreno;
        (transport.timestamps, transport.spurious_timeout_undo) = (false, false);
        transport.receive_window_bytes = u64::MAX;
    });
    assert!(seen.iter().all(|(_, time, _)| *time == 50 * MILLISECOND), "{seen:?}");
    assert_eq!(seen.iter().map(|(interface, ..)| *interface).collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!(seen[0].2[8..], [2, 4, 5, 168, 1, 1, 1, 1, 1, 3, 3, 0], "no timestamps, no SACK: 1448 bytes");
    assert_eq!(seen[1].2[8..], [2, 4, 5, 168, 1, 1, 1, 1, 1, 3, 3, 14], "the largest scale");
    assert_eq!(seen[2].2.len(), 8, "no options");
}

#[test]
fn a_handshake_negotiates_the_ecn_mode_of_the_flow() {
    let flags = |accurate_ecn| {
        let seen = handshake(200, |transport| (transport.ecn, transport.accurate_ecn) = (true, accurate_ecn));
        seen.iter().map(|(.., header)| (header[0] & 1, header[1])).collect::<Vec<_>>()
    };
    assert_eq!(flags(false), [(0, 0xc2), (0, 0x52), (0, 0x10)], "RFC 3168, section 6.1.1");
    assert_eq!(flags(true), [(1, 0xc2), (0, 0x92), (0, 0x90)], "RFC 9768, tables 2 and 3");
}

/// Each file has its own connection, even if only the reverse path is captured.
#[test]
fn every_connection_opens_once_at_each_link() {
    let count = |capture: Vec<usize>| {
        let bytes = Draw::Constant { value: 100_000.0 };
        let traffic = TrafficPlan::Repeated { bytes, pause_ns: Draw::Constant { value: 4e8 } };
        let files = FlowPlan { traffic, ..flow("files", newreno()) };
        let mut plan = plan(5, round_trip_links(link("there", mbps(10), 25.0), 25.0), vec![files]);
        plan.record.capture = capture;
        let outcome = run(&plan, 1);
        let (_, packets) = read(outcome.capture.as_deref().unwrap());
        assert!(packets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "timestamps do not decrease");
        let begun = table(&outcome, "completions").integers("bytes").len();
        (packets.iter().filter(|packet| packet.3[33] & 2 != 0).count(), begun)
    };
    for capture in [vec![0], vec![1]] {
        let (opened, begun) = count(capture);
        assert!(begun > 5 && (begun..=begun + 1).contains(&opened), "{opened} of {begun}");
    }
    let (opened, begun) = count(vec![0, 1]);
    assert!((2 * begun..=2 * begun + 2).contains(&opened), "{opened} of {begun}");
}

#[test]
fn nothing_is_captured_unless_requested() {
    let plan = plan(1, round_trip_links(link("bottleneck", mbps(5), 10.0), 10.0), vec![flow("a", newreno())]);
    assert_eq!(run(&plan, 1).capture, None);
}
