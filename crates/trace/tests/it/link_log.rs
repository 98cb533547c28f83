//! Logs of `mm-link` and of tunnels: contents, rejected lines, and the part before the break of a truncated
//! log.

use std::io::{Cursor, Write};

use airpath_trace::link_log::{LinkLog, LinkLogError, read_link_log};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::link_logs::LOGS;

fn read(bytes: impl Into<Vec<u8>>) -> Result<LinkLog, LinkLogError> {
    read_link_log(Cursor::new(bytes.into()))
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("writing to a vector does not fail");
    encoder.finish().expect("writing to a vector does not fail")
}

const MS: i64 = 1_000_000;

#[test]
fn a_log_of_mm_link_counts_from_its_base_timestamp() {
    let log = read(LOGS[0]).unwrap();
    assert_eq!(log.base_ns, Some(1_005_000_000));
    assert!(!log.names_flows);
    assert_eq!(log.opportunities.time_ns, [MS, 2 * MS, 3 * MS, 4 * MS]);
    assert_eq!(log.opportunities.bytes, [1504; 4]);
    assert_eq!(log.arrivals.time_ns, [MS; 3]);
    assert_eq!(log.departures.time_ns, [2 * MS, 3 * MS]);
    assert_eq!(log.departures.delay_ns, [MS, 2 * MS]);
    assert_eq!((log.drops.time_ns, log.drops.packets, log.drops.bytes), (vec![MS], vec![1], vec![1504]));
    assert_eq!(log.stopped, None);
}

#[test]
fn a_tunnel_log_counts_from_its_first_event_and_names_flows() {
    let log = read(LOGS[2]).unwrap();
    assert_eq!(log.base_ns, None);
    assert!(log.names_flows);
    assert_eq!(log.arrivals.flow, [1, 2]);
    assert_eq!(log.departures.flow, [1, 2]);
    assert_eq!(log.departures.time_ns, [5_545_000, 8_045_000]);
    assert_eq!(log.departures.delay_ns, [5_545_000, 5_545_000]);
    // The clocks of the two endpoints may differ.
    let alone = read(LOGS[3]).unwrap();
    assert!(!alone.names_flows);
    assert_eq!((alone.departures.flow, alone.departures.delay_ns), (vec![0], vec![-125_000]));
    let later = read("5.5 + 100\n4 + 100\n").unwrap();
    assert_eq!(later.arrivals.time_ns, [0, -1_500_000]);
}

#[test]
fn drops_have_one_number_or_two() {
    let drops = read(LOGS[4]).unwrap().drops;
    assert_eq!((drops.packets, drops.bytes), (vec![1, 3], vec![1504, 4512]));
}

#[test]
fn crlf_byte_order_marks_and_long_headers_are_read() {
    let unix = read(LOGS[0]).unwrap();
    assert_eq!(read(LOGS[0].replace('\n', "\r\n")).unwrap(), unix);
    assert_eq!(read(format!("\u{feff}{}", LOGS[0])).unwrap(), unix);
    let header = format!("# mahimahi config: {}\n", "x".repeat(1 << 20));
    assert_eq!(read(format!("{header}{}", LOGS[0])).unwrap(), unix);
    assert_eq!(read(packed(LOGS[0])).unwrap(), unix);
}

#[test]
fn errors_name_the_line_what_was_found_and_what_is_accepted() {
    for (text, message) in [
        ("", "the file is empty; accepted: a log of mm-link"),
        ("# only\n# headers\n", "line 2: found no event; accepted: `TIME # BYTES`"),
        ("10 + 1504", "line 1: found no whole event (the last line has no end); accepted: "),
        ("10 + 1504\n\n", "line 2: found nothing; accepted: `TIME # BYTES`"),
        ("10 ~ 1504\n", "line 1: found `10 ~ 1504`; accepted: `TIME # BYTES`"),
        ("0.0\t8.0\n", "line 1: found `0.0\\t8.0`; accepted: `TIME # BYTES`"),
        ("10 + 1504\n10 - 1504\n", "line 2: found `10 - 1504`; accepted: `TIME # BYTES`"),
        ("10 # 1504 1\n", "line 1: found `10 # 1504 1`; accepted: "),
        ("10 - 1504 1 2 3\n", "line 1: found `10 - 1504 1 2 3`; accepted: "),
        ("-10 + 1504\n", "line 1: found `-10`; accepted: milliseconds, not negative"),
        ("4000000000001 + 1504\n", "line 1: found `4000000000001`; accepted: milliseconds"),
        ("10 + -1\n", "line 1: found `-1`; accepted: a whole number up to 4294967295"),
        ("10 + 1.5\n", "line 1: found `1.5`; accepted: a whole number"),
        ("10 + 4294967296\n", "line 1: found `4294967296`; accepted: a whole number"),
        ("10 + 1504 one\n", "line 1: found `one`; accepted: a whole number"),
        (
            "0 + 1\n100000000001 + 1\n",
            "line 2: found `100000000001 + 1`; accepted: a time at most 100000000000 ms",
        ),
        ("10 - 1504 1000000001\n", "line 1: found `1000000001`; accepted: milliseconds, up to 1000000000"),
        ("10 - 1504 soon\n", "line 1: found `soon`; accepted: milliseconds"),
        (
            "10.5 - 17 - 1500\n",
            "line 1: found `10.5 - 17 - 1500`; accepted: `TIME - BYTES DELAY`; this is what one end",
        ),
        (
            "# base timestamp: now\n",
            "line 1: found `# base timestamp: now`; accepted: `# base timestamp: MILLIS",
        ),
        (
            "# base timestamp: 1\n# base timestamp: 1\n",
            "line 2: found `# base timestamp: 1`; accepted: one base timestamp, before",
        ),
        ("10 + 1504\n# base timestamp: 1\n", "line 2: found `# base timestamp: 1`; accepted: one base"),
    ] {
        let said = read(text).unwrap_err().to_string();
        assert!(said.starts_with(message), "{text:?}: {said}");
    }
    let long = format!("10 + 1504{}\n", " ".repeat(2000));
    assert!(read(long).unwrap_err().to_string().ends_with("accepted: a line of at most a kilobyte"));
}

#[test]
fn a_truncated_log_is_read_up_to_its_end() {
    let whole = LOGS[0];
    // Cut in the middle of the last line: its rest could be read as another number.
    let cut = read(&whole.as_bytes()[..whole.len() - 2]).unwrap();
    assert_eq!(cut.opportunities.time_ns, [MS, 2 * MS, 3 * MS]);
    let stopped = cut.stopped.unwrap();
    assert_eq!((stopped.line, stopped.reason.as_str()), (15, "the last line has no end"));

    let line = |ms| format!("{ms} + {}\n", 40 + ms * 7919 % 1460);
    let many = (0..50_000).map(line).collect::<Vec<_>>().concat();
    let packed = packed(&many);
    let cut = read(&packed[..packed.len() / 2]).unwrap();
    let lines = cut.arrivals.time_ns.len();
    assert!((1000..49_000).contains(&lines), "{lines}");
    assert!((0..lines).all(|line| cut.arrivals.time_ns[line] == line as i64 * MS));
    let stopped = cut.stopped.unwrap();
    assert_eq!(stopped.line, lines + 1);
    assert!(stopped.reason.starts_with("the file cannot be read further"), "{}", stopped.reason);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_log_bytes_do_not_panic(
        log in select(LOGS.to_vec()),
        damages in vec((any::<Index>(), select(b"0123456789.-+#d \t\r\n\x1f\xff".to_vec()), 0..4_usize), 0..6),
    ) {
        let mut bytes = log.as_bytes().to_vec();
        for (place, byte, kind) in damages {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => bytes.truncate(at.max(1)),
                _ => { bytes.remove(at); bytes.push(byte); }
            }
        }
        let lines = bytes.split(|byte| *byte == b'\n').count();
        match read(bytes) {
            Ok(log) => {
                let sizes = [
                    (log.opportunities.time_ns.len(), log.opportunities.bytes.len()),
                    (log.arrivals.time_ns.len(), log.arrivals.flow.len()),
                    (log.departures.time_ns.len(), log.departures.delay_ns.len()),
                    (log.drops.time_ns.len(), log.drops.packets.len()),
                ];
                prop_assert!(sizes.iter().all(|(one, other)| one == other));
                prop_assert!((1..=lines).contains(&sizes.iter().map(|(size, _)| size).sum::<usize>()));
            }
            Err(LinkLogError::Line(error)) => prop_assert!((1..=lines).contains(&error.line), "{error}"),
            Err(_) => {}
        }
    }

    #[test]
    fn written_data_is_read_back(
        packets in vec((0..90_000_000_000_000_u64, -1_000_000_000..1_000_000_000_i64, any::<u32>(), 0..5_u32), 1..30),
    ) {
        let milliseconds = |us: i64| format!("{}{}.{:03}", if us < 0 { "-" } else { "" }, us.abs() / 1000, us.abs() % 1000);
        let lines = packets.iter().map(|(time, delay, bytes, flow)| {
            format!("{} - {bytes} {} {flow}\n", milliseconds(*time as i64), milliseconds(*delay))
        });
        let log = read(lines.collect::<String>()).unwrap();
        let first = packets[0].0 as i64;
        for (row, (time, delay, bytes, flow)) in packets.iter().enumerate() {
            prop_assert_eq!(log.departures.time_ns[row], (*time as i64 - first) * 1000);
            prop_assert_eq!(log.departures.delay_ns[row], delay * 1000);
            prop_assert_eq!((log.departures.bytes[row], log.departures.flow[row]), (*bytes, *flow));
        }
    }
}
