//! Captures of real traffic against what another program counted in them.
//!
//! They are not part of the project. The tests look for them in the folder named by `AIRPATH_CAPTURES`, else beside the
//! workspace, and pass with a note where there are none; a folder that is named must be there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "says what was not checked")]

use std::fs::File;
use std::path::PathBuf;

use airpath_replay::{EcnUse, Options, Vantage, analyse};

/// File, TCP packets, payload of the largest flow with what was sent again, segments sent again, smallest RTT in ms, vantage,
/// congestion feedback.
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

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("AIRPATH_CAPTURES").map(PathBuf::from);
    if let Some(named) = &named {
        assert!(named.is_dir(), "AIRPATH_CAPTURES names {}, which is not there", named.display());
    }
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/captures"));
    let folder = named.unwrap_or(beside);
    if !folder.is_dir() {
        println!("not checked: no folder {}; set AIRPATH_CAPTURES", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn real_captures_give_what_another_program_counted() {
    let Some(folder) = folder() else { return };
    for (name, packets, bytes, again, rtt_ms, vantage, ecn) in TABLE {
        let analysis = analyse(File::open(folder.join(name)).unwrap(), &Options::default()).unwrap();
        assert_eq!(analysis.report.stopped, None, "{name}");
        assert_eq!(analysis.report.tcp_packets, packets, "{name}");
        let flow = &analysis.flows[0];
        assert_eq!(flow.bytes + again * flow.mss, bytes, "{name}");
        assert_eq!((flow.retransmitted, flow.vantage, flow.ecn), (again, vantage, ecn), "{name}");
        let least_ms = flow.rtt_min_ns.unwrap() as f64 / 1e6;
        assert!((least_ms - rtt_ms).abs() <= 0.1, "{name}: {least_ms} ms");
    }
}

/// Cut after two thirds each gives what stands before, and says so.
#[test]
fn real_captures_that_break_off_are_read_up_to_there() {
    let Some(folder) = folder() else { return };
    for (name, ..) in TABLE {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let cut = bytes[..bytes.len() * 2 / 3].to_vec();
        let analysis = analyse(std::io::Cursor::new(cut), &Options::default()).unwrap();
        assert!(analysis.report.stopped.is_some() && analysis.flows[0].bytes > 10_000, "{name}");
    }
}
