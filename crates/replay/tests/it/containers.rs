//! Every container, link layer and snap length yields the same flow; a broken file yields the part before the
//! break.

use std::io::{Cursor, Write};

use crate::common::*;
use airpath_replay::{Analysis, Options, Vantage, analyse};
use proptest::prelude::*;

const SEGMENTS: u32 = 200;

fn read(bytes: Vec<u8>) -> Analysis {
    analyse(Cursor::new(bytes), &estimators::options()).unwrap()
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_container_and_link_layer_gives_the_same_flow() {
    let packets = conversation(SEGMENTS, 20);
    let reference = read(capture(CONTAINERS[2], Link::Raw, false, usize::MAX, &packets));
    let flow = &reference.flows[0];
    assert_eq!((flow.bytes, flow.acked_bytes, flow.acks), (200_000, 200_000, u64::from(SEGMENTS)));
    assert_eq!((flow.vantage, flow.mss, flow.clock_hz), (Vantage::Sender, 1000, Some(1000.0)));
    assert_eq!((flow.rtt_min_ns, flow.rtt_max_ns), (Some(20_000_000), Some(20_000_000)));
    assert_eq!((flow.source.to_string().as_str(), flow.ect0), ("10.0.0.1:4000", u64::from(SEGMENTS)));
    for container in CONTAINERS {
        for link in LINKS {
            for six in [false, true] {
                if six && matches!(link, Link::Null | Link::Loop) {
                    continue; // their family field would have to differ
                }
                let bytes = capture(container, link, six, usize::MAX, &packets);
                // Headers only: the longest link header, IPv6 with an extension, TCP with timestamps.
                let short = capture(container, link, six, 8 + 26 + 8 + 48 + 32 + 8, &packets);
                for bytes in [compressed(&bytes), short, bytes] {
                    let analysis = read(bytes);
                    assert_eq!(analysis.report.stopped, None, "{container:?} {link:?} {six}");
                    assert_eq!(analysis.start_ns, reference.start_ns);
                    let found = &analysis.flows[0];
                    assert_eq!(found.estimates, flow.estimates, "{container:?} {link:?} {six}");
                    // Compared as text, because NaN is not equal to itself.
                    assert!(
                        format!("{:?}", found.series) == format!("{:?}", flow.series),
                        "{container:?} {link:?}"
                    );
                    assert_eq!((found.bytes, found.vantage), (flow.bytes, flow.vantage));
                }
            }
        }
    }
}

#[test]
fn a_snap_length_without_tcp_options_omits_what_needs_them() {
    let packets = conversation(SEGMENTS, 20);
    let analysis = read(capture(CONTAINERS[0], Link::Raw, false, 40, &packets));
    let flow = &analysis.flows[0];
    assert_eq!((flow.bytes, flow.acked_bytes, flow.timestamps), (200_000, 200_000, false));
    let sarbe = flow.estimates.iter().find(|estimate| estimate.name == "sarbe").unwrap();
    assert_eq!((sarbe.mean_bps, sarbe.missing), (None, Some("the receiver sends no timestamps")));
    assert!(flow.estimates.iter().filter(|estimate| estimate.missing.is_none()).count() >= 10);
    assert_eq!(flow.vantage, Vantage::Sender, "by the handshake");
    let analysis = read(capture(CONTAINERS[0], Link::Raw, false, 39, &packets));
    assert_eq!(analysis.report.skipped.cut_short, analysis.report.packets);
}

#[test]
fn a_truncated_file_is_read_up_to_its_end() {
    let packets = conversation(SEGMENTS, 20);
    for container in CONTAINERS {
        let whole = capture(container, Link::Ethernet, false, usize::MAX, &packets);
        let cut = whole[..whole.len() / 2].to_vec();
        let analysis = read(cut.clone());
        let stopped = analysis.report.stopped.clone().unwrap();
        assert_eq!(stopped.reason, "the file ends inside a block");
        assert!(stopped.at_byte as usize <= cut.len() && stopped.at_byte as usize > cut.len() - 2000);
        assert!(analysis.flows[0].bytes > 90_000);
        // The compressed stream breaks off: its reason is the one that is reported.
        let cut = compressed(&whole);
        let analysis = read(cut[..cut.len() * 3 / 4].to_vec());
        let reason = analysis.report.stopped.unwrap().reason;
        assert!(reason.starts_with("the file cannot be read further"), "{reason}");
        assert!(analysis.flows[0].bytes > 10_000);
    }
}

#[test]
fn an_invalid_length_ends_reading_with_a_reason() {
    let packets = conversation(20, 20);
    let mut bytes = capture(CONTAINERS[0], Link::Raw, false, usize::MAX, &packets);
    // The captured length of the third record.
    let at = 24 + (16 + 60) + (16 + 60) + 8;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let analysis = read(bytes);
    assert_eq!(analysis.report.tcp_packets, 2);
    assert_eq!(analysis.report.stopped.unwrap().at_byte, 24 + 2 * 76);
}

#[test]
fn other_files_are_rejected_with_their_content_named() {
    let refused =
        |bytes: &[u8]| analyse(Cursor::new(bytes.to_vec()), &estimators::options()).unwrap_err().to_string();
    assert!(refused(b"").starts_with("the file is empty"));
    assert!(refused(b"# Packet captures").starts_with("the file begins with `# Packet cap`"));
    assert!(refused(&[0x7F, 0x45, 0x4C, 0x46]).starts_with("the file begins with the bytes 7f 45 4c 46"));
    assert!(
        refused(&compressed(b"hello"))
            .starts_with("the file begins with `hello`; accepted: a pcap or pcapng")
    );
    let snoop = b"snoop\0\0\0\0\0\0\x02\0\0\0\x04";
    assert!(refused(snoop).starts_with("the file is a Solaris snoop capture"));
    assert!(refused(&compressed(snoop)).contains("`editcap -F pcap IN OUT`"));
}

#[test]
fn fragments_other_protocols_and_other_links_are_counted() {
    let packets = conversation(1, 20);
    let mut fragment = network(&packets[3], false);
    fragment[6] = 0x20; // more fragments
    let mut datagram = network(&packets[3], false);
    datagram[9] = 17;
    let frames =
        [(0, fragment), (1, datagram), (2, vec![0; 40]), (3, network(&packets[3], false)[..30].to_vec())];
    let analysis = read(pack(CONTAINERS[4], 101, usize::MAX, &frames));
    let skipped = &analysis.report.skipped;
    assert_eq!((skipped.fragments, skipped.not_tcp, skipped.not_ip, skipped.cut_short), (1, 1, 1, 1));
    assert!(analysis.flows.is_empty());
    let analysis = read(pack(CONTAINERS[0], 195, usize::MAX, &frames));
    assert_eq!(analysis.report.skipped.link_types.get(&195), Some(&4));
}

#[test]
fn a_second_interface_and_a_packet_captured_twice_are_no_retransmissions() {
    let packets = conversation(SEGMENTS, 20);
    let mut frames = Vec::new();
    for (k, packet) in packets.iter().enumerate() {
        let mut bytes = network(packet, false);
        bytes[4..6].copy_from_slice(&(k as u16 + 1).to_be_bytes());
        frames.push((packet.time_ns, bytes.clone()));
        frames.push((packet.time_ns + 10_000, bytes));
    }
    let flow = read(pack(CONTAINERS[2], 101, usize::MAX, &frames)).flows.remove(0);
    assert_eq!((flow.bytes, flow.retransmitted), (200_000, 0));
    assert_eq!(flow.duplicates, packets.len() as u64);
}

#[test]
fn many_flows_are_bounded_and_the_largest_results_stay() {
    let mut frames = Vec::new();
    for port in 0..3_000_u16 {
        for packet in conversation(1 + u32::from(port % 7), 20) {
            let mut bytes = network(&packet, false);
            let at = 20 + if packet.side == 0 { 0 } else { 2 };
            bytes[at..at + 2].copy_from_slice(&(port + 10_000).to_be_bytes());
            frames.push((packet.time_ns + u64::from(port) * 1_000_000_000, bytes));
        }
    }
    let bytes = pack(CONTAINERS[2], 101, usize::MAX, &frames);
    let options = Options { most_flows: 64, estimators: Vec::new() };
    let analysis = analyse(Cursor::new(bytes), &options).unwrap();
    assert_eq!(analysis.flows.len(), 64);
    assert!(analysis.flows.iter().all(|flow| flow.bytes == 7_000));
    assert_eq!(analysis.dropped + 64, 3_000);
    assert!(analysis.evicted >= 3_000 - 64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// No header bytes cause a panic.
    #[test]
    fn corrupted_captures_do_not_panic(
        which in 0..CONTAINERS.len(),
        link in 0..LINKS.len(),
        six in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..30),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = capture(CONTAINERS[which], LINKS[link], six, 120, &conversation(30, 5));
        for (place, value) in damage {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        if let Ok(analysis) = analyse(Cursor::new(bytes), &estimators::options()) {
            for flow in &analysis.flows {
                prop_assert!(flow.series.len() <= 1024);
                prop_assert!(flow.estimates.iter().all(|e| e.mean_bps.is_none_or(f64::is_finite)));
            }
        }
    }
}
