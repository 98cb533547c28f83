//! Captures as written by other tools and hosts.

use std::io::Cursor;

use crate::common::{ACK, Container, Link, Packet, SYN, capture, conversation, network, pack};
use airpath_replay::{Analysis, EcnUse, Options, Vantage, analyse};

const NG: Container = Container::Ng { big: false };

fn analysed(packets: &[Packet], six: bool) -> Analysis {
    analyse(Cursor::new(capture(NG, Link::Raw, six, 200, packets)), &Options::default()).unwrap()
}

fn later(packets: &[Packet], ms: u64, numbers: u32) -> Vec<Packet> {
    let moved = |packet: &Packet| {
        let (mut sequence, mut acknowledgment) = (packet.sequence, packet.acknowledgment);
        *(if packet.side == 0 { &mut sequence } else { &mut acknowledgment }) =
            if packet.side == 0 { packet.sequence } else { packet.acknowledgment }.wrapping_add(numbers);
        Packet { time_ns: packet.time_ns + ms * 1_000_000, sequence, acknowledgment, ..packet.clone() }
    };
    packets.iter().map(moved).collect()
}

#[test]
fn a_new_connection_between_the_same_ports_is_a_separate_flow() {
    let first = conversation(50, 20);
    for numbers in [500_000_000, 800_000_000, 2_000_000_000, 3_500_000_000] {
        let both = [first.clone(), later(&first, 5_000, numbers)].concat();
        let found = analysed(&both, false);
        let bytes: Vec<_> =
            found.flows.iter().map(|flow| (flow.bytes, flow.acked_bytes, flow.retransmitted)).collect();
        assert_eq!(bytes, [(50_000, 50_000, 0); 2], "{numbers}");
    }
}

#[test]
fn time_continues_when_the_clock_was_set_back() {
    let straight = analysed(&conversation(500, 20), false).flows.remove(0);
    let mut packets = conversation(500, 20);
    let set = packets.len() / 3;
    for packet in &mut packets[set..] {
        packet.time_ns -= 2_000_000_000;
    }
    let flow = analysed(&packets, false).flows.remove(0);
    assert_eq!((flow.vantage, straight.vantage), (Vantage::Sender, Vantage::Sender));
    assert!(flow.rtt_min_ns.unwrap() >= 19_000_000, "{:?}", flow.rtt_min_ns);
    let ratio = flow.delivered_bps.unwrap() / straight.delivered_bps.unwrap();
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn a_capture_after_a_later_one_keeps_its_times() {
    let (first, second) = (conversation(50, 20), later(&conversation(50, 20), 60_000, 500_000_000));
    let found = analysed(&[second, first].concat(), false);
    assert_eq!(found.flows.len(), 2);
    assert!(
        found.flows.iter().all(|flow| flow.delivered_bps.is_some() && flow.rtt_min_ns >= Some(20_000_000))
    );
}

#[test]
fn data_captured_twice_is_no_retransmission_in_ipv6() {
    let twice: Vec<Packet> = conversation(100, 20)
        .into_iter()
        .flat_map(|packet| [packet.clone(), Packet { time_ns: packet.time_ns + 2_000, ..packet }])
        .collect();
    let flow = analysed(&twice, true).flows.remove(0);
    assert_eq!((flow.retransmitted, flow.recoveries, flow.data_packets), (0, 0, 100));
}

#[test]
fn timestamps_in_powers_of_two_are_read() {
    let frames: Vec<(u64, Vec<u8>)> = conversation(50, 20)
        .iter()
        .map(|packet| {
            ((u128::from(packet.time_ns) * (1 << 32) / 1_000_000_000) as u64, network(packet, false))
        })
        .collect();
    let mut file = pack(NG, 101, 200, &frames);
    file[28 + 20] = 0x80 | 32; // if_tsresol
    let found = analyse(Cursor::new(file), &Options::default()).unwrap();
    assert_eq!(found.flows[0].rtt_min_ns.unwrap().div_ceil(1_000), 20_000);
}

/// Three messages of 800 bytes, half a second apart, then full segments.
#[test]
fn a_few_small_messages_do_not_determine_the_segment_size() {
    let mut packets = conversation(3, 20);
    packets.retain(|packet| packet.payload == 0 || packet.side == 1 || packet.payload == 1000);
    for packet in packets.iter_mut().filter(|packet| packet.payload == 1000) {
        packet.payload = 800;
    }
    let flow = analysed(&packets, false).flows.remove(0);
    assert_eq!(flow.mss, 1448, "the negotiated 1460, minus timestamps");
}

#[test]
fn acknowledged_data_missing_in_the_capture_is_reported() {
    let mut packets = conversation(100, 20);
    let mut place = 0;
    packets.retain(|packet| {
        place += u32::from(packet.payload > 0);
        packet.payload == 0 || !(40..45).contains(&place)
    });
    let flow = analysed(&packets, false).flows.remove(0);
    assert_eq!((flow.bytes, flow.acked_bytes, flow.uncaptured_bytes), (95_000, 100_000, 5_000));
}

/// Returns a capture whose packets from that time on come from a second interface.
fn at_another_interface(packets: &[Packet], from_ns: u64) -> Vec<u8> {
    let file = capture(NG, Link::Raw, false, 200, packets);
    let (sections, rest) = file.split_at(60);
    let mut both = [sections, &sections[28..], rest].concat();
    let word = |file: &[u8], at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut at = 92;
    while at < both.len() {
        let time = u64::from(word(&both, at + 12)) << 32 | u64::from(word(&both, at + 16));
        both[at + 8] = u8::from(time >= from_ns);
        at += word(&both, at + 4) as usize;
    }
    both
}

#[test]
fn a_flow_continues_on_another_interface_when_the_first_is_silent() {
    let first = conversation(100, 20);
    let goes_on = |pause_ms: u64| {
        let mut packets = first.clone();
        let half = packets.len() / 2;
        for packet in &mut packets[half..] {
            packet.time_ns += pause_ms * 1_000_000;
        }
        let file = at_another_interface(&packets, packets[half].time_ns);
        let flow = analyse(Cursor::new(file), &Options::default()).unwrap().flows.remove(0);
        (flow.bytes, flow.duplicates)
    };
    assert_eq!(goes_on(2_000), (100_000, 0));
    let (bytes, duplicates) = goes_on(0);
    assert!(
        bytes < 100_000 && duplicates > 0,
        "a second interface that shows the same is left out: {bytes} {duplicates}"
    );
}

#[test]
fn estimators_report_missing_acknowledgments() {
    let mut packets = conversation(100, 20);
    packets.retain(|packet| packet.side == 0);
    let named = |name: &str, config| airpath_replay::NamedEstimator::new(name.to_owned(), config).unwrap();
    let estimators =
        vec![named("plus", airpath_estimate::AckRateConfig::WestwoodPlus { ticks_per_second: 1000 })];
    let options = Options { estimators, ..Options::default() };
    let file = Cursor::new(capture(NG, Link::Raw, false, 200, &packets));
    let flow = analyse(file, &options).unwrap().flows.remove(0);
    let said = flow.estimates[0].missing;
    assert_eq!(said, Some("no acknowledgments were captured"));
}

/// Returns the header bits of an accurate ECN counter.
fn ace(count: u16) -> u16 {
    (count & 4) << 6 | (count & 2) << 6 | (count & 1) << 6
}

/// Returns a hundred segments of a connection with accurate ECN, opened by the receiver. The third packet has
/// the code `answered`; the counter starts with `begin`, and one more mark is reported from `marked` bytes
/// on.
fn accurate(answered: u16, begin: u16, marked: u32) -> Vec<Packet> {
    let mut packets = conversation(100, 20);
    let (syn, answer) = (packets[0].clone(), packets[1].clone());
    packets[0] = Packet { time_ns: syn.time_ns, flags: SYN | ace(7), acknowledgment: 0, ..answer.clone() };
    packets[1] = Packet {
        time_ns: answer.time_ns,
        flags: SYN | ACK | ace(2),
        acknowledgment: answer.sequence + 1,
        ..syn.clone()
    };
    let (sequence, acknowledgment) = (answer.sequence + 1, syn.sequence.wrapping_add(1));
    packets[2] =
        Packet { side: 1, sequence, acknowledgment, flags: ACK | ace(answered), ..packets[2].clone() };
    for packet in &mut packets[3..] {
        let told = packet.side == 1 && packet.acknowledgment.wrapping_sub(acknowledgment) >= marked;
        packet.flags |= ace(begin + u16::from(told));
    }
    packets
}

/// The third packet of a handshake with accurate ECN reports the ECN field of the second one (RFC 9768,
/// section 3.2.2.1), also if it is retransmitted; only later do the bits count marks, from 5 on.
#[test]
fn the_end_of_a_handshake_reports_no_marks() {
    for (answered, begin) in [(0b010, 5), (0b011, 5), (0b100, 5), (0b110, 6)] {
        let once = accurate(answered, begin, 100_000);
        // At once, before any data is acknowledged, after some was, and after the mark was reported.
        for repeated_at in [None, Some(3), Some(4), Some(60), Some(203)] {
            let mut packets = once.clone();
            if let Some(at) = repeated_at {
                let time_ns = once[at - 1].time_ns;
                packets.insert(at, Packet { time_ns, ..once[2].clone() });
            }
            let flow = analysed(&packets, false).flows.remove(0);
            assert_eq!(
                (flow.ecn, flow.bytes, flow.reported_marks),
                (EcnUse::Accurate, 100_000, 1),
                "{answered:b}, repeated at {repeated_at:?}"
            );
        }
    }
}

/// A host may send data with the third packet: then its bits are the counter already.
#[test]
fn data_in_the_third_packet_carries_the_counter() {
    let mut packets = accurate(6, 6, 100_000);
    packets[2].payload = 10;
    for packet in packets[3..].iter_mut().filter(|packet| packet.side == 1) {
        packet.sequence += 10;
    }
    let flow = analysed(&packets, false).flows.remove(0);
    assert_eq!((flow.ecn, flow.reported_marks), (EcnUse::Accurate, 1));
}

/// An overtaken acknowledgment has an older counter: there were no marks since.
#[test]
fn a_reordered_acknowledgment_reports_no_marks() {
    let mut packets = accurate(2, 5, 51_000);
    let acks: Vec<_> = (3..packets.len()).filter(|&at| packets[at].side == 1).collect();
    let (first, second) = (acks[49], acks[50]);
    assert_ne!(packets[first].flags, packets[second].flags);
    let times = [packets[first].time_ns, packets[second].time_ns];
    packets.swap(first, second);
    (packets[first].time_ns, packets[second].time_ns) = (times[0], times[1]);
    let flow = analysed(&packets, false).flows.remove(0);
    assert_eq!((flow.ecn, flow.bytes, flow.reported_marks), (EcnUse::Accurate, 100_000, 1));
}
