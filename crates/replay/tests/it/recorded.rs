//! Compares captures of real traffic with the counts of another program.
//!
//! They are not part of the project. The tests read them from the folder named by `AIRPATH_CAPTURES`, which
//! must exist, and are skipped with a note if the variable is not set.

#![allow(clippy::print_stdout, reason = "says what was not checked")]

use std::fs::File;
use std::io::Cursor;
use std::path::Path;

use crate::common::estimators::options;
use crate::common::recordings::folder;
use airpath_replay::{Analysis, EcnUse, Vantage, analyse};

/// File, TCP packets, payload of the largest flow including retransmissions, retransmitted segments, smallest
/// RTT in ms, vantage, congestion feedback.
type Row = (&'static str, u64, u64, u64, f64, Vantage, EcnUse);

#[rustfmt::skip]
const TABLE: [Row; 6] = [
    ("prague_dualpi2_wifi.pcap.gz", 54_152, 44_118_525, 0, 21.8, Vantage::Sender, EcnUse::Accurate),
    ("cubic_fq_codel_wifi.pcap.gz", 77_416, 64_027_621, 0, 21.9, Vantage::Sender, EcnUse::Accurate),
    ("ndt-4c6fb_1625899199_000000000121C1A0.pcap.gz", 18_240, 22_167_494, 39, 42.9, Vantage::Sender, EcnUse::Off),
    ("mlab-large-ndt.pcap", 519, 1_616_579, 0, 2.7, Vantage::Sender, EcnUse::Off),
    ("tcptrace-first_seg_ooo.dmp.gz", 243, 63_066, 0, 574.2, Vantage::Receiver, EcnUse::Off),
    ("5g-phone-web-53-20201225-233305.pcap", 2_261, 442_466, 0, 43.6, Vantage::Receiver, EcnUse::Off),
];

/// File, TCP packets, connections, payload of the largest flow including retransmissions, retransmitted
/// segments, all as counted.
type Counted = (&'static str, u64, u64, u64, u64);

/// Captures without other comparable counts: super-segments within one machine, a coarse capture clock (25
/// distinct times), packets in triplicate.
#[rustfmt::skip]
const ODD: [Counted; 4] = [
    ("suricata-decode-sll2-02.pcap", 159, 1, 2_598_875, 0),
    ("syn_retransmit_with_ts.pcap", 254, 1, 208_589, 18),
    ("wireshark-retrans.pcap", 108, 1, 20_888, 24),
    ("zeek-irc-dcc-send.pcapng", 1_184, 3, 1_320_211, 0),
];

fn read(bytes: Vec<u8>) -> Result<Analysis, String> {
    analyse(Cursor::new(bytes), &options()).map_err(|error| error.to_string())
}

#[test]
fn unusual_captures_match_the_expected_counts() {
    let Some(folder) = folder() else { return };
    for (name, packets, connections, bytes, again) in ODD {
        let analysis = read(std::fs::read(folder.join(name)).unwrap()).unwrap();
        assert_eq!(analysis.report.stopped, None, "{name}");
        assert_eq!(analysis.report.tcp_packets, packets, "{name}");
        assert_eq!(analysis.flows.len() as u64 + analysis.silent, connections, "{name}");
        let flow = &analysis.flows[0];
        // Packets that are captured repeatedly are counted separately.
        assert!(flow.retransmitted + flow.duplicates >= again, "{name}: {flow:?}");
        let most = flow.bytes + again * flow.mss;
        assert!((flow.bytes..=most).contains(&bytes), "{name}: {bytes} in {}..={most}", flow.bytes);
    }
}

/// Every file of the folder, whole and cut in the middle, yields a result or one clear message.
#[test]
fn every_recorded_capture_returns_a_result_or_one_message() {
    let Some(folder) = folder() else { return };
    let is_capture = |path: &Path| path.extension().is_none_or(|kind| kind != "md");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| is_capture(path));
    assert!(paths.len() >= TABLE.len() + ODD.len(), "{} captures in {}", paths.len(), folder.display());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        for (part, end) in [("whole", bytes.len()), ("half", bytes.len() / 2)] {
            match read(bytes[..end].to_vec()) {
                Ok(analysis) => {
                    let flow = analysis.flows.first().unwrap_or_else(|| panic!("no flow: {path:?} {part}"));
                    assert!(flow.bytes > 0 && flow.series.len() <= 1024, "{path:?} {part}");
                    assert_eq!(flow.estimates.len(), options().estimators.len(), "{path:?} {part}");
                    let said = flow.estimates.iter().all(|estimate| {
                        estimate.missing.is_some() != estimate.mean_bps.is_some_and(f64::is_finite)
                    });
                    assert!(said, "an estimate, or why there is none: {path:?} {part} {:?}", flow.estimates);
                    assert_eq!(analysis.report.stopped.is_some(), part == "half", "{path:?} {part}");
                }
                Err(message) => assert!(!message.is_empty() && !message.contains('\n'), "{message}"),
            }
        }
    }
}

#[test]
fn real_captures_match_the_counts_of_another_program() {
    let Some(folder) = folder() else { return };
    for (name, packets, bytes, again, rtt_ms, vantage, ecn) in TABLE {
        let analysis = analyse(File::open(folder.join(name)).unwrap(), &options()).unwrap();
        assert_eq!(analysis.report.stopped, None, "{name}");
        assert_eq!(analysis.report.tcp_packets, packets, "{name}");
        let flow = &analysis.flows[0];
        assert_eq!(flow.bytes + again * flow.mss, bytes, "{name}");
        assert_eq!((flow.retransmitted, flow.vantage, flow.ecn), (again, vantage, ecn), "{name}");
        let least_ms = flow.rtt_min_ns.unwrap() as f64 / 1e6;
        assert!((least_ms - rtt_ms).abs() <= 0.1, "{name}: {least_ms} ms");
    }
}

/// Cut after two thirds, each yields the part before the cut and reports the cut.
#[test]
fn truncated_real_captures_are_read_up_to_their_end() {
    let Some(folder) = folder() else { return };
    for (name, ..) in TABLE {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let cut = bytes[..bytes.len() * 2 / 3].to_vec();
        let analysis = read(cut).unwrap();
        assert!(analysis.report.stopped.is_some() && analysis.flows[0].bytes > 10_000, "{name}");
    }
}
