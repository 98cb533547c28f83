//! The router's programs, run by the kernel on handmade packets.

use std::time::Duration;

use airpath_linux::router::{Factor, FixedShares, Guidance, Kind, LossConfig, Programs, Protocol, outcomes};

use crate::support::packets::{ETHERNET, Segment, checksums_hold, datagram, ecn, xcp_option};
use crate::support::{LONGEST_HOLD, can_load};

const VCP: Kind = Kind::Protocol(Protocol::Vcp);
const XCP: Kind = Kind::Protocol(Protocol::Xcp);
/// The return value that passes a packet to the next program.
const PASS: i32 = -1;
const UNLIMITED: i32 = i32::MAX;

fn programs() -> Programs {
    Programs::load(ETHERNET as u32).unwrap()
}

/// Passes a packet while the daemon is alive.
fn pass(programs: &Programs, kind: Kind, frame: &[u8]) -> Vec<u8> {
    programs.beat(LONGEST_HOLD).unwrap();
    pass_without_beat(programs, kind, frame)
}

fn pass_without_beat(programs: &Programs, kind: Kind, frame: &[u8]) -> Vec<u8> {
    let (action, left, _) = programs.run(kind, frame, 1).unwrap();
    assert_eq!((action, left.len()), (PASS, frame.len()));
    left
}

/// Returns unlimited shares that give each packet `per_x` of positive feedback per nanosecond of X and
/// `per_byte` of negative feedback per byte (both in 1/65536 byte/s).
fn shares(per_x: f64, per_byte: f64) -> Guidance {
    Guidance::Shares(FixedShares {
        residue_positive: 1 << 60,
        residue_negative: 1 << 60,
        per_x: Factor::new(per_x),
        per_byte: Factor::new(per_byte),
    })
}

#[test]
fn codes_are_raised_and_never_lowered() {
    if !can_load("router vectors") {
        return;
    }
    let programs = programs();
    for ipv6 in [false, true] {
        for own in 1..=3 {
            programs.guide(&Guidance::Code(own));
            for brought in 0..=3 {
                let frame = Segment { ipv6, ecn: brought, ..Segment::default() }.frame();
                let left = pass(&programs, VCP, &frame);
                let expected = if brought == 0 { 0 } else { brought.max(own) };
                assert_eq!(ecn(&left), expected, "{brought} at {own}");
                assert!(checksums_hold(&left), "{brought} at {own}");
                let same = |frame: &[u8]| [&frame[..ETHERNET], &frame[ETHERNET + 12..]].concat();
                assert_eq!(same(&left), same(&frame), "nothing else changes");
            }
        }
    }
}

#[test]
fn every_arrival_is_counted_and_acknowledgments_and_other_packets_are_unchanged() {
    if !can_load("router vectors") {
        return;
    }
    let programs = programs();
    programs.guide(&Guidance::Code(3));
    let data = Segment::default().frame();
    let acknowledgment = Segment { payload: 0, ..Segment::default() }.frame();
    let [udp, udp_over_ipv6] = [false, true].map(|ipv6| datagram(ipv6, 1, 1000));
    let mut fragment = data.clone();
    fragment[ETHERNET + 6] = 0x20;
    let mut arp = data.clone();
    arp[12..14].copy_from_slice(&[8, 6]);
    let mut short_header = data.clone();
    short_header[ETHERNET] = 0x43;
    let mut long_header = data.clone();
    long_header[ETHERNET + 32] = 0xf0; // 60 bytes of TCP header, all present
    let mut bytes = 0;
    for frame in [&acknowledgment, &udp, &udp_over_ipv6, &fragment, &arp, &short_header] {
        assert_eq!(&pass(&programs, VCP, frame), frame);
        assert_eq!(&pass(&programs, XCP, frame), frame);
        bytes += 2 * frame.len() as u64;
    }
    let before = programs.counters();
    assert_eq!((before.packets, before.bytes, before.data_packets), (12, bytes, 0));
    pass(&programs, VCP, &data);
    pass(&programs, VCP, &long_header);
    let after = programs.counters();
    assert_eq!((after.packets, after.bytes), (14, bytes + 2 * data.len() as u64));
    assert_eq!((after.data_packets, after.data_bytes, after.written), (2, 2 * data.len() as u64, 2));
}

#[test]
fn packets_truncated_at_any_byte_are_accepted() {
    if !can_load("router vectors") {
        return;
    }
    let programs = programs();
    programs.guide(&Guidance::Code(3));
    programs.guide(&shares(1.0, 0.0));
    for ipv6 in [false, true] {
        let options = xcp_option(100_000, 100_000, UNLIMITED);
        let frame = Segment { ipv6, options, payload: 1, ..Segment::default() }.frame();
        for length in ETHERNET..frame.len() {
            for kind in [VCP, XCP, Kind::Loss] {
                programs.beat(LONGEST_HOLD).unwrap();
                // The kernel itself rejects frames without the fixed part of an IP header.
                if let Ok((action, left, _)) = programs.run(kind, &frame[..length], 1) {
                    assert_eq!((action, left.len()), (PASS, length));
                }
            }
        }
    }
}

#[test]
fn feedback_and_checksum_are_written_at_any_option_offset() {
    if !can_load("router vectors") {
        return;
    }
    let programs = programs();
    // 65536 units (1 byte/s) per ns of X: X = 10 ms, so 1e7 byte/s; 0.01 byte/s per byte.
    programs.guide(&shares(65_536.0, 655.36));
    let timestamps = [8, 10, 1, 2, 3, 4, 5, 6, 7, 8];
    for ipv6 in [false, true] {
        for before in [
            vec![],
            vec![1],
            vec![1, 1],
            vec![1, 1, 1],
            timestamps.to_vec(),
            [&[1][..], &timestamps].concat(),
        ] {
            for requested in [UNLIMITED, 5_000_000, 0, -3_000_000, i32::MIN] {
                let mut options = before.clone();
                options.extend(xcp_option(100_000, 100_000, requested));
                let segment = Segment { ipv6, options, ..Segment::default() };
                let frame = segment.frame();
                let left = pass(&programs, XCP, &frame);
                let at = segment.options_at() + before.len() + 16;
                let written = i32::from_be_bytes(left[at..at + 4].try_into().unwrap());
                let taken = (frame.len() as f64 * 0.01).round() as i32;
                assert_eq!(written, requested.min(10_000_000 - taken), "{before:?}, {requested}");
                assert!(checksums_hold(&left), "{before:?}, {requested}");
                let checksum = segment.options_at() - 4;
                assert_eq!(left[..checksum], frame[..checksum], "nothing before changes");
                assert_eq!(left[checksum + 2..at], frame[checksum + 2..at], "nor between");
                assert_eq!(left[at + 4..], frame[at + 4..], "nothing behind changes");
            }
        }
    }
}

#[test]
fn header_values_are_summed() {
    if !can_load("router vectors") {
        return;
    }
    let programs = programs();
    // X = 1000 B over 100 kB/s = 10 ms. In the second packet the round-trip time bounds it; a packet without
    // a round-trip time counts nothing.
    for (rtt_us, throughput) in [(100_000, 100_000), (4_000, 100_000), (0, 100_000), (2_000_000, 0)] {
        let options = xcp_option(rtt_us, throughput, UNLIMITED);
        pass(&programs, XCP, &Segment { options, ..Segment::default() }.frame());
    }
    let counted = programs.counters();
    assert_eq!((counted.packets, counted.data_packets), (4, 3));
    assert_eq!(counted.sum_x, 10_000_000 + 4_000_000 + 2_000_000_000);
    // Round-trip times count up to a second.
    let products = 10_000_000 * 100_000 + 4_000_000 * 4_000 + 2_000_000_000_u64 * 1_000_000;
    assert!(products / 1024 - counted.sum_x_rtt <= 3, "{counted:?}");
    assert_eq!(
        counted.written, 4,
        "no feedback: each packet leaves with zero, even without a round-trip time"
    );
}

#[test]
fn corrupted_options_are_left_alone() {
    if !can_load("router vectors") {
        return;
    }
    let programs = programs();
    programs.guide(&shares(65_536.0, 0.0));
    let good = xcp_option(100_000, 100_000, UNLIMITED);
    let changed = |place: usize, value: u8| {
        let mut option = good.clone();
        option[place] = value;
        option
    };
    let odd: [(&str, Vec<u8>, u64); 9] = [
        ("length zero", changed(1, 0), 1),
        ("length one", changed(1, 1), 1),
        ("longer than the header", changed(1, 40), 1),
        ("another length", changed(1, 12), 0), // the following bytes then begin with zero, the end of options
        ("another experiment", changed(2, 0x42), 0),
        ("another message", changed(4, 2), 0),
        ("ended before", [&[0, 0, 0, 0][..], &good].concat(), 0),
        ("kind without length at the end", [&[1; 19][..], &[253]].concat(), 1),
        ("NOPs only", vec![1; 40], 0),
    ];
    for (name, options, malformed) in odd {
        let before = programs.counters().malformed;
        let frame = Segment { options, ..Segment::default() }.frame();
        assert_eq!(pass(&programs, XCP, &frame), frame, "{name}");
        assert_eq!(programs.counters().malformed - before, malformed, "{name}");
    }
    // Arbitrary bytes: packets without an XCP header never change, and their checksums stay correct.
    let mut state = 1_u32;
    for _ in 0..2000 {
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let length = usize::from(byte() % 41);
        let options = (0..length).map(|_| if byte() < 64 { 253 } else { byte() % 32 }).collect();
        let frame = Segment { options, ..Segment::default() }.frame();
        assert_eq!(pass(&programs, XCP, &frame), frame);
    }
}

#[test]
fn a_silent_daemon_changes_nothing() {
    if !can_load("router vectors") {
        return;
    }
    let mut programs = Programs::load(ETHERNET as u32).unwrap();
    programs.guide(&Guidance::Code(3));
    programs.guide(&shares(65_536.0, 0.0));
    let lossy =
        LossConfig::named("gilbert-elliott").with("gamma", 0.0).with("beta", 0.99).with("eps_good", 1.0);
    programs.lose(&outcomes(&lossy).unwrap(), 1).unwrap();
    let options = xcp_option(100_000, 100_000, UNLIMITED);
    let frame = Segment { options, ..Segment::default() }.frame();
    let touched = |programs: &Programs| {
        let changed = [VCP, XCP].map(|kind| pass_without_beat(programs, kind, &frame) != frame);
        (changed, programs.run(Kind::Loss, &frame, 1).unwrap().0)
    };
    assert_eq!(touched(&programs), ([false; 2], PASS), "before the first heartbeat");
    programs.beat(LONGEST_HOLD).unwrap();
    assert_eq!(touched(&programs), ([true; 2], 2));
    programs.beat(Duration::ZERO).unwrap();
    assert_eq!(touched(&programs), ([false; 2], PASS), "silent");
    // A hold time that no living daemon sets.
    programs.beat(Duration::from_secs(3600)).unwrap();
    assert_eq!(touched(&programs), ([false; 2], PASS), "too long");
    let counted = programs.counters();
    assert_eq!((counted.packets, counted.unguided, counted.lost), (8, 6, 1));
}

#[test]
fn losses_match_the_markov_chain() {
    if !can_load("router vectors") {
        return;
    }
    let mut programs = programs();
    let config = LossConfig::named("gilbert").with("mean_loss", 0.05).with("mean_burst", 4.0);
    programs.lose(&outcomes(&config).unwrap(), 7).unwrap();
    let frame = Segment { payload: 0, ..Segment::default() }.frame();
    let count = 40_000;
    let lost: Vec<bool> = (0..count)
        .map(|_| {
            programs.beat(LONGEST_HOLD).unwrap();
            programs.run(Kind::Loss, &frame, 1).unwrap().0 == 2
        })
        .collect();
    let losses = lost.iter().filter(|lost| **lost).count() as f64;
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let share = losses / f64::from(count);
    // The correlation is c = 1 - 1/4 - p/(4 (1 - p)). Standard deviations: sqrt(p (1 - p) (1 + c) / (1 - c) /
    // n) of the share, sqrt(12 / bursts) of a mean of geometric bursts. The tolerance is five of each.
    assert!((share - 0.05).abs() < 5.0 * 0.002_8, "{share}");
    assert!((losses / bursts - 4.0).abs() < 5.0 * (12.0 / bursts).sqrt(), "{}", losses / bursts);
    let counted = programs.counters();
    assert_eq!(counted.lost, losses as u64);
    assert_eq!(counted.lost + counted.unlost, count as u64);
}
