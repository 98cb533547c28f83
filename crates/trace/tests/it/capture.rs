//! Captures read by an independent reader of the format, and headers checked byte by byte.

use airpath_trace::capture::{
    CaptureError, CaptureWriter, OpeningOptions, PacketDescription, PacketKind, TcpDescription, TcpFlags,
};
use pcap_parser::pcapng::EnhancedPacketBlock;
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, PcapNGReader};

const NAMES: [&str; 2] = ["bottleneck", "return path"];

#[test]
fn interfaces_have_names_link_type_and_nanoseconds() {
    let file = capture(&[]);
    let mut names = Vec::new();
    for_each_block(&file, |block| {
        if let Block::InterfaceDescription(description) = block {
            assert_eq!(description.linktype, Linktype::RAW);
            assert_eq!(description.ts_resolution(), Some(1_000_000_000));
            assert_eq!(description.snaplen, 80);
            names.push(description.if_name().unwrap().unwrap().to_owned());
        }
    });
    assert_eq!(names, NAMES);
}

#[test]
fn packets_have_interface_time_and_both_lengths() {
    let late = (1 << 40) + 7;
    let packets = seen(&[(0, 1, tcp()), (1, 123_456_789, udp()), (1, late, tcp())]);
    let summary: Vec<_> = packets
        .iter()
        .map(|packet| (packet.interface, packet.time_ns, packet.bytes.len(), packet.length))
        .collect();
    assert_eq!(summary, [(0, 1, 40, 1500), (1, 123_456_789, 28, 1028), (1, late, 40, 1500)]);
}

#[test]
fn a_tcp_header_contains_the_described_fields() {
    let description = TcpDescription {
        sequence: 0x0102_0304,
        acknowledgment: 0xF1F2_F3F4,
        flags: TcpFlags { ack: true, psh: true, ece: true, cwr: true, fin: true, syn: true, ae: false },
        window: 0xABCD,
        timestamps: Some((0x1111_2222, 0x3333_4444)),
        sack: [Some((10, 20)), None, Some((30, 40))],
        opening: None,
    };
    let packet = PacketDescription { kind: PacketKind::Tcp(description), ecn: 0b11, ..tcp() };
    let [packet] = &seen(&[(0, 0, packet)])[..] else { panic!("one packet") };
    let (ip, segment) = packet.bytes.split_at(20);
    assert_eq!(ip[..2], [0x45, 0b11]);
    assert_eq!(ip[8..10], [64, 6]);
    assert_eq!(ip[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
    assert_eq!(segment[..4], [0x9C, 0x40, 0x14, 0x51]);
    assert_eq!(segment[4..12], [1, 2, 3, 4, 0xF1, 0xF2, 0xF3, 0xF4]);
    // 20 bytes, 12 of timestamps, 20 of SACK: 13 words. CWR, ECE, no URG, ACK, PSH, no RST, SYN, FIN.
    assert_eq!(segment[12..16], [13 << 4, 0b1101_1011, 0xAB, 0xCD]);
    assert_eq!(segment[20..32], [1, 1, 8, 10, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44]);
    assert_eq!(segment[32..], [1, 1, 5, 18, 0, 0, 0, 10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0, 40]);
}

#[test]
fn each_flag_has_its_own_bit() {
    let flags = |change: fn(&mut TcpFlags)| {
        let mut description = TcpDescription::default();
        change(&mut description.flags);
        let packet = PacketDescription { kind: PacketKind::Tcp(description), ..tcp() };
        seen(&[(0, 0, packet)])[0].bytes[33]
    };
    assert_eq!(flags(|_| ()), 0);
    assert_eq!(flags(|flags| flags.fin = true), 0x01);
    assert_eq!(flags(|flags| flags.syn = true), 0x02);
    assert_eq!(flags(|flags| flags.psh = true), 0x08);
    assert_eq!(flags(|flags| flags.ack = true), 0x10);
    assert_eq!(flags(|flags| flags.ece = true), 0x40);
    assert_eq!(flags(|flags| flags.cwr = true), 0x80);
}

#[test]
fn a_segment_that_opens_a_connection_has_the_options_of_linux() {
    let options = |sack_permitted, timestamps| {
        let opening = Some(OpeningOptions { mss: 1460, window_scale: 7, sack_permitted });
        let flags = TcpFlags { syn: true, ae: true, ..TcpFlags::default() };
        let description = TcpDescription { flags, timestamps, opening, ..TcpDescription::default() };
        let packet = PacketDescription { kind: PacketKind::Tcp(description), payload_length: 0, ..tcp() };
        let packet = seen(&[(0, 0, packet)]).remove(0);
        assert!(packet.checksums_are_right());
        assert_eq!(packet.bytes[32] & 1, 1, "accurate ECN");
        packet.bytes[40..].to_vec()
    };
    assert_eq!(options(true, Some((1, 2))), [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7]);
    assert_eq!(options(true, None), [2, 4, 5, 180, 4, 2, 1, 1, 1, 3, 3, 7]);
    assert_eq!(options(false, None), [2, 4, 5, 180, 1, 1, 1, 1, 1, 3, 3, 7]);
}

#[test]
fn packets_are_inserted_in_time_order() {
    let mut writer = CaptureWriter::new(Vec::new(), &NAMES).unwrap();
    for time_ns in [10, 20, 1 << 40] {
        writer.packet(0, time_ns, &tcp()).unwrap();
    }
    for time_ns in [20, 0, 1 << 41, (1 << 40) - 1] {
        writer.insert(1, time_ns, &udp()).unwrap();
    }
    let order: Vec<_> =
        packets_of(&writer.into_inner()).iter().map(|packet| (packet.interface, packet.time_ns)).collect();
    let expected = [(1, 0), (0, 10), (0, 20), (1, 20), (1, (1 << 40) - 1), (0, 1 << 40), (1, 1 << 41)];
    assert_eq!(order, expected);
}

#[test]
fn options_up_to_the_largest_are_written() {
    let lengths = [(None, 0, 0), (Some((1, 2)), 0, 12), (None, 1, 12), (None, 3, 28), (Some((1, 2)), 3, 40)];
    for (timestamps, blocks, length) in lengths {
        let mut description = TcpDescription { timestamps, ..TcpDescription::default() };
        for (block, index) in description.sack.iter_mut().zip(0..blocks) {
            *block = Some((index, index + 1));
        }
        let packet = PacketDescription { kind: PacketKind::Tcp(description), ..tcp() };
        let packet = &seen(&[(0, 0, packet)])[0];
        assert_eq!(packet.bytes.len(), 40 + length);
        assert_eq!(packet.length, 1500 + length as u32);
        assert!(packet.checksums_are_right());
    }
}

#[test]
fn checksums_hold_over_a_payload_of_zeros() {
    for payload_length in [0, 1, 1459, 1460, 65_495] {
        for ecn in 0..4 {
            let tcp = PacketDescription { payload_length, ecn, ..tcp() };
            let udp = PacketDescription { payload_length, ecn, ..udp() };
            for packet in seen(&[(0, 0, tcp), (1, 0, udp)]) {
                assert!(packet.checksums_are_right(), "{payload_length} bytes, ECN {ecn}");
                assert_eq!(packet.bytes[1], ecn);
            }
        }
    }
}

#[test]
fn oversized_packets_are_rejected_and_not_written() {
    let mut writer = CaptureWriter::new(Vec::new(), &NAMES).unwrap();
    let long = PacketDescription { payload_length: 65_496, ..tcp() };
    assert!(matches!(writer.packet(0, 0, &long), Err(CaptureError::PacketLength(65_536))));
    let longer = PacketDescription { payload_length: u32::MAX, ..udp() };
    assert!(matches!(writer.packet(0, 0, &longer), Err(CaptureError::PacketLength(4_294_967_323))));
    assert!(matches!(writer.packet(2, 0, &tcp()), Err(CaptureError::Interface { found: 2, count: 2 })));
    assert_eq!(writer.into_inner(), capture(&[]));

    let name = "n".repeat(65_536);
    assert!(matches!(CaptureWriter::new(Vec::new(), &[&name]), Err(CaptureError::NameLength(65_536))));
}

#[test]
fn a_writer_that_fails_is_reported() {
    let mut room = [0u8; 200];
    let mut writer = CaptureWriter::new(&mut room[..], &NAMES).unwrap();
    assert!(matches!(
        writer.packet(0, 0, &tcp()).and_then(|()| writer.packet(0, 1, &tcp())),
        Err(CaptureError::Write(_))
    ));
}

/// A packet as returned by the reader.
struct Seen {
    interface: u32,
    time_ns: u64,
    length: u32,
    bytes: Vec<u8>,
}

impl Seen {
    fn of(block: &EnhancedPacketBlock<'_>) -> Self {
        Self {
            interface: block.if_id,
            time_ns: u64::from(block.ts_high) << 32 | u64::from(block.ts_low),
            length: block.origlen,
            bytes: block.data[..block.caplen as usize].to_vec(),
        }
    }

    /// Checks RFC 1071: the sum over everything including the checksum is all ones. Payload zeros add
    /// nothing.
    fn checksums_are_right(&self) -> bool {
        let (ip, segment) = self.bytes.split_at(20);
        let total = u16::from_be_bytes([ip[2], ip[3]]);
        assert_eq!(u32::from(total), self.length);
        let mut pseudo = ip[12..20].to_vec();
        pseudo.extend([0, ip[9]]);
        pseudo.extend((total - 20).to_be_bytes());
        pseudo.extend(segment);
        ones_complement_sum(ip) == 0xFFFF && ones_complement_sum(&pseudo) == 0xFFFF
    }
}

fn ones_complement_sum(bytes: &[u8]) -> u32 {
    let mut sum: u32 = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum
}

fn seen(packets: &[(usize, u64, PacketDescription)]) -> Vec<Seen> {
    packets_of(&capture(packets))
}

fn packets_of(file: &[u8]) -> Vec<Seen> {
    let mut seen = Vec::new();
    for_each_block(file, |block| {
        if let Block::EnhancedPacket(block) = block {
            seen.push(Seen::of(block));
        }
    });
    seen
}

fn capture(packets: &[(usize, u64, PacketDescription)]) -> Vec<u8> {
    let mut writer = CaptureWriter::new(Vec::new(), &NAMES).expect("a valid capture");
    for (interface, time_ns, packet) in packets {
        writer.packet(*interface, *time_ns, packet).expect("a valid capture");
    }
    writer.into_inner()
}

fn for_each_block(file: &[u8], mut visit: impl FnMut(&Block<'_>)) {
    let mut reader = PcapNGReader::new(1 << 16, file).expect("a valid capture");
    loop {
        match reader.next() {
            Ok((consumed, PcapBlockOwned::NG(block))) => {
                visit(&block);
                reader.consume(consumed);
            }
            Err(PcapError::Eof) => return,
            Err(PcapError::Incomplete(_)) => reader.refill().expect("a valid capture"),
            Ok(_) => panic!("a block of another format"),
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn tcp() -> PacketDescription {
    PacketDescription {
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
        source_port: 40_000,
        destination_port: 5201,
        payload_length: 1460,
        kind: PacketKind::Tcp(TcpDescription::default()),
        ecn: 0,
    }
}

fn udp() -> PacketDescription {
    PacketDescription { payload_length: 1000, kind: PacketKind::Udp, ..tcp() }
}
