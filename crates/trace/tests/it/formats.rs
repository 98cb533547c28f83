//! Inputs that each reader accepts and rejects, with the line of the error.

use airpath_trace::{Direction, Format, ReadOptions, Trace, detect, read};

fn opportunities(milliseconds: &[u64]) -> Trace {
    let instants_ns = milliseconds.iter().map(|instant| instant * 1_000_000).collect();
    Trace::Opportunities { instants_ns, opportunity_bytes: 1500 }
}

fn rates(points: &[(u64, u64)], end_ns: u64) -> Trace {
    Trace::Rates { points: points.to_vec(), end_ns }
}

fn read_as(format: Format, text: &str) -> Trace {
    read(text.as_bytes(), &ReadOptions { format: Some(format), ..ReadOptions::default() })
        .expect("a valid file")
}

#[track_caller]
fn refused(format: Format, text: &str, line: usize, part: &str) {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let error = read(text.as_bytes(), &options).expect_err(text);
    assert_eq!(error.line, line, "{error}");
    assert!(error.to_string().contains(part), "{error}");
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn mahimahi_accepts_equal_instants_zeros_and_both_line_ends() {
    assert_eq!(read_as(Format::Mahimahi, "0\n0\n3\n"), opportunities(&[0, 0, 3]));
    assert_eq!(read_as(Format::Mahimahi, "0\r\n0\r\n3"), opportunities(&[0, 0, 3]));
    assert_eq!(read_as(Format::Mahimahi, "007"), opportunities(&[7]));
}

#[test]
fn mahimahi_rules_are_enforced() {
    refused(Format::Mahimahi, "", 1, "empty file");
    refused(Format::Mahimahi, "\n", 1, "nothing");
    refused(Format::Mahimahi, "1\n\n2\n", 2, "nothing");
    refused(Format::Mahimahi, "1\n2\n\n", 3, "nothing");
    refused(Format::Mahimahi, "1\n-2\n", 2, "`-2`");
    refused(Format::Mahimahi, "1\n2.0\n", 2, "`2.0`");
    refused(Format::Mahimahi, "1\n 2\n", 2, "` 2`");
    refused(Format::Mahimahi, "1\n+2\n", 2, "`+2`");
    refused(Format::Mahimahi, "5\n6\n4\n", 3, "not below that of the line above");
    refused(Format::Mahimahi, "0\n0\n", 2, "greater than 0");
    refused(Format::Mahimahi, "9223372036855\n", 1, "292 years");
    refused(Format::Mahimahi, "99999999999999\n", 1, "292 years");
    refused(Format::Mahimahi, "99999999999999999999999\n", 1, "292 years");
}

#[test]
fn rate_logs_start_at_zero_and_end_a_median_step_after_the_last_row() {
    let trace = read_as(Format::SecondsMbps, "10.5 1\n11.5\t2.5\n12.5   0\n14.5 4\n");
    let points = [(0, 1_000_000), (SECOND, 2_500_000), (2 * SECOND, 0), (4 * SECOND, 4_000_000)];
    assert_eq!(trace, rates(&points, 5 * SECOND));
}

#[test]
fn an_even_number_of_steps_has_the_mean_of_the_middle_two() {
    assert_eq!(read_as(Format::SecondsMbps, "0 1\n1 1\n4 1\n").period_ns(), 6 * SECOND);
}

#[test]
fn the_median_step_does_not_depend_on_the_order_of_steps() {
    for times in [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]] {
        let text: String = times.map(|time| format!("{time} 1\n")).concat();
        assert_eq!(read_as(Format::SecondsMbps, &text).period_ns(), 9 * SECOND, "{times:?}");
    }
}

#[test]
fn a_single_row_holds_for_a_second() {
    assert_eq!(read_as(Format::SecondsMbps, "7 1\n"), rates(&[(0, 1_000_000)], SECOND));
}

#[test]
fn the_last_of_rows_with_equal_times_counts() {
    let trace = read_as(Format::MillisecondsKbps, "0 8\n100 8\n100 16\n200 16\n");
    assert_eq!(trace, rates(&[(0, 8_000), (SECOND / 10, 16_000), (SECOND / 5, 16_000)], 3 * SECOND / 10));
}

#[test]
fn invalid_rate_logs_are_rejected() {
    refused(Format::SecondsMbps, "", 1, "empty file");
    refused(Format::SecondsMbps, "0 1\n1\n", 2, "`1`");
    refused(Format::SecondsMbps, "0 1\n1 2 3\n", 2, "`1 2 3`");
    refused(Format::SecondsMbps, "0 1\n\n1 2\n", 2, "nothing");
    refused(Format::SecondsMbps, "0 1\n1 -2\n", 2, "`-2`");
    refused(Format::SecondsMbps, "0 1\n1 nan\n", 2, "`nan`");
    refused(Format::SecondsMbps, "1 1\n0.5 2\n", 2, "not before");
    refused(Format::SecondsMbps, "1e10 1\n", 1, "292 years");
    refused(Format::SecondsMbps, "0 1\n\u{1}x\u{e9} 2\n", 2, "`\\u{1}xé`");
}

#[test]
fn values_with_units_are_one_per_second() {
    let trace =
        read_as(Format::ValueUnitCsv, "1.87,Mbits/sec\r\n2,Kbits/sec\r\n3,bits/sec\r\n4,Gbits/sec\r\n");
    let points = [(0, 1_870_000), (SECOND, 2_000), (2 * SECOND, 3), (3 * SECOND, 4_000_000_000)];
    assert_eq!(trace, rates(&points, 4 * SECOND));
    refused(Format::ValueUnitCsv, "1,Mbits/sec\n1,MBytes/sec\n", 2, "`MBytes/sec`");
    refused(Format::ValueUnitCsv, "1,Mbits/sec\n1\n", 2, "`1`");
    refused(Format::ValueUnitCsv, "", 1, "empty file");
}

#[test]
fn starlink_has_two_directions() {
    let text = "1,2,80,90,0,1,1000\n3,4,80,90,0.5,0,1100\n";
    assert_eq!(
        read_as(Format::StarlinkCsv, text),
        rates(&[(0, 2_000_000), (SECOND / 10, 4_000_000)], SECOND / 5)
    );
    let options = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    let up = read(text.as_bytes(), &options).unwrap();
    assert_eq!(up, rates(&[(0, 1_000_000), (SECOND / 10, 3_000_000)], SECOND / 5));
    refused(Format::StarlinkCsv, "1,2,80,90,0,1.1,0\n", 1, "`1.1`");
    refused(Format::StarlinkCsv, "1,2,80,90,0,0,100\n1,2,80,90,0,0,0\n", 2, "not before");
    refused(Format::StarlinkCsv, "1,2,80,90,0,0\n", 1, "seven numbers");
    refused(Format::StarlinkCsv, "1,2,80,x,0,0,0\n", 1, "`x`");
}

const GNETTRACK: &str = "Timestamp,DL_bitrate,UL_bitrate,PINGAVG\n\
    2019.12.31_23.59.57,-,5,-\n\
    2019.12.31_23.59.58,100,5,-\n\
    2019.12.31_23.59.58,201,-,-\n\
    2019.12.31_23.59.59,-,5,-\n\
    2020.01.01_00.00.00,8,5,33\n\
    2020.01.01_00.00.01,-,7,-\n";

#[test]
fn gnettrack_averages_a_second_and_holds_over_missing_values() {
    let trace = read_as(Format::GnettrackCsv, GNETTRACK);
    assert_eq!(trace, rates(&[(0, 150_500), (2 * SECOND, 8_000)], 5 * SECOND));
}

#[test]
fn gnettrack_means_are_rounded_to_the_nearest() {
    let text = "Timestamp,DL_bitrate\n2020.01.01_00.00.00,0.001\n2020.01.01_00.00.00,0.002\n";
    assert_eq!(read_as(Format::GnettrackCsv, text), rates(&[(0, 2)], SECOND));
}

#[test]
fn gnettrack_has_two_directions() {
    let options = ReadOptions { direction: Direction::Up, ..ReadOptions::default() };
    let points: Vec<_> = (0..4).map(|second| (second * SECOND, 5_000)).chain([(4 * SECOND, 7_000)]).collect();
    assert_eq!(read(GNETTRACK.as_bytes(), &options).unwrap(), rates(&points, 5 * SECOND));
}

#[test]
fn gnettrack_rows_with_pings_count_as_missing_on_request() {
    let options = ReadOptions { drop_ping_rows: true, ..ReadOptions::default() };
    assert_eq!(read(GNETTRACK.as_bytes(), &options).unwrap(), rates(&[(0, 150_500)], 4 * SECOND));
    let without = "Timestamp,DL_bitrate\n2020.01.01_00.00.00,8\n";
    let error = read(without.as_bytes(), &options).unwrap_err();
    assert_eq!((error.line, error.accepted.as_str()), (1, "a header with the column PINGAVG"));
}

#[test]
fn gnettrack_follows_the_calendar() {
    for (from, to, days) in [
        ("1970.01.01", "2000.01.01", 10_957),
        ("1999.12.31", "2000.01.01", 1),
        ("2000.02.28", "2000.03.01", 2),
        ("2019.02.28", "2019.03.01", 1),
        ("2020.02.28", "2020.03.01", 2),
        ("2024.02.28", "2024.03.01", 2),
        ("2000.01.01", "2001.01.01", 366),
        ("2020.01.01", "2021.01.01", 366),
        ("2021.01.01", "2022.01.01", 365),
        ("2099.01.01", "2102.01.01", 3 * 365),
        ("2000.01.01", "2100.01.01", 36_525),
    ] {
        let text = format!("Timestamp,DL_bitrate\n{from}_00.00.00,1\n{to}_00.00.00,1\n");
        let end_ns = 2 * days * 86_400 * SECOND; // the single step again
        assert_eq!(read_as(Format::GnettrackCsv, &text).period_ns(), end_ns, "{from} to {to}");
    }
}

#[test]
fn invalid_gnettrack_logs_are_rejected() {
    let with = |rows: &str| format!("Timestamp,DL_bitrate\n{rows}");
    refused(Format::GnettrackCsv, "", 1, "empty file");
    refused(Format::GnettrackCsv, "Timestamp,UL_bitrate\n", 1, "the column DL_bitrate");
    refused(Format::GnettrackCsv, &with(""), 1, "at least one row");
    refused(Format::GnettrackCsv, &with("2020.01.01_00.00.00,-\n"), 2, "without any rate");
    refused(Format::GnettrackCsv, &with("2020.01.01_00.00.00,1,2\n"), 2, "3 fields");
    refused(Format::GnettrackCsv, &with("2020.01.01_00.00.00,x\n"), 2, "`x`");
    for time in [
        "2020-01-01_00.00.00",
        "2020.13.01_00.00.00",
        "2019.02.29_00.00.00",
        "2020.01.00_00.00.00",
        "2020.01.01_24.00.00",
        "2020.01.01_00.60.00",
        "2020.01.01_00.00.60",
        "2020.01.01_00.00.000",
        "2020.01.01_00.00",
        "2019.12.32_00.00.00",
        "2100.02.29_00.00.00",
        "1900.01.01_00.00.00",
    ] {
        refused(Format::GnettrackCsv, &with(&format!("{time},1\n")), 2, time);
    }
    for rates in ["1", "-"] {
        let rows = format!("2020.01.01_00.00.01,{rates}\n2020.01.01_00.00.00,{rates}\n");
        refused(Format::GnettrackCsv, &with(&rows), 3, "not before");
    }
}

#[test]
fn our_own_csv_may_contain_its_end() {
    let open = read_as(Format::AirpathCsv, "time_s,rate_mbps\n0,1.5\n0.5,0.000001\n");
    assert_eq!(open, rates(&[(0, 1_500_000), (SECOND / 2, 1)], SECOND));
    let closed = read_as(Format::AirpathCsv, "time_s,rate_mbps\n0,1.5\n0.5,2\n0.500000001,\n");
    assert_eq!(closed, rates(&[(0, 1_500_000), (SECOND / 2, 2_000_000)], SECOND / 2 + 1));
    let header = "time_s,rate_mbps\n";
    refused(Format::AirpathCsv, header, 1, "at least one row");
    refused(Format::AirpathCsv, "time,rate\n0,1\n", 1, "`time,rate`");
    refused(Format::AirpathCsv, &format!("{header}1,\n"), 1, "at least one row");
    refused(Format::AirpathCsv, &format!("{header}0,1\n1,\n2,1\n"), 3, "last row only");
    refused(Format::AirpathCsv, &format!("{header}0,1\n0,\n"), 3, "after the row above");
}

#[test]
fn formats_are_detected() {
    for (text, format) in [
        ("0\n5\n", Format::Mahimahi),
        ("0 1\n1 2\n", Format::SecondsMbps),
        ("0\t1\n19.9\t2\n", Format::SecondsMbps),
        ("0 1\n20 2\n", Format::MillisecondsKbps),
        ("1700000000000 1\n1700000001000 2\n", Format::MillisecondsKbps),
        ("1,bits/sec\n", Format::ValueUnitCsv),
        ("Timestamp,UL_bitrate\n", Format::GnettrackCsv),
        ("1,2,3,4,0,0,0\r\n", Format::StarlinkCsv),
        ("time_s,rate_mbps\r\n", Format::AirpathCsv),
    ] {
        assert_eq!(detect(text.as_bytes()), Ok(format), "{text:?}");
    }
}

#[test]
fn unknown_formats_are_rejected() {
    for (text, part) in [
        ("", "empty file"),
        ("hello\n", "accepted: mahimahi, "),
        ("0 1\n", "or name the format"),
        ("0 1\n0 2\n", "or name the format"),
        ("1$[1, 2]$1$[0.1]$0.1\n", "delay trace, not a rate trace"),
        ("1.5\n", "`1.5`"),
        ("Timestamp,Speed\n", "accepted: mahimahi, "),
        ("Time,DL_bitrate\n", "accepted: mahimahi, "),
    ] {
        let error = detect(text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(part), "{text:?}: {error}");
        assert_eq!(error.line, 1);
    }
    assert_eq!(detect(b"0 1\n1 x\n").unwrap_err().line, 2);
}

#[test]
fn names_round_trip_through_text() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    let error = "csv".parse::<Format>().unwrap_err().to_string();
    assert!(Format::ALL.iter().all(|format| error.contains(format.name())), "{error}");
}

#[test]
fn long_lines_are_quoted_in_part() {
    let error = detect(&[b'x'; 10_000]).unwrap_err();
    assert_eq!(error.found, format!("`{}…`", "x".repeat(40)));
}
