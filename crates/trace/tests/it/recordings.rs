//! Compares recorded traces with the table that describes them, computed by another program.
//!
//! The recordings are not part of the project. The tests read them from the folder named by `AIRPATH_TRACES`,
//! which must exist, and are skipped with a note if the variable is not set.

use std::path::PathBuf;

use airpath_trace::{
    Direction, Format, ReadOptions, Statistics, Trace, detect, read, to_opportunities, to_rates,
    write_airpath_csv, write_mahimahi,
};

/// One row of the table: rates in Mbit/s, times in seconds, as printed.
struct Row {
    file: &'static str,
    format: Format,
    /// For rate logs with timestamps the table contains the time between first and last row; ours is one
    /// median step longer.
    duration: f64,
    median_step: f64,
    mean: f64,
    /// Minimum, 5th percentile, median, 95th percentile, maximum.
    bins: [f64; 5],
    /// Length and rounded start.
    outage: Option<(f64, f64)>,
    largest_step: f64,
}

#[rustfmt::skip]
const TABLE: [Row; 14] = [
    row("Verizon-LTE-short.down", Format::Mahimahi, 140.0, 0.0, 5.03, [0.00, 0.71, 4.32, 12.13, 20.64], Some((1.45, 64.0)), 6.4),
    row("Verizon-LTE-short.up", Format::Mahimahi, 140.0, 0.0, 5.95, [0.00, 0.72, 5.40, 12.24, 16.20], Some((1.72, 66.0)), 6.7),
    row("ATT-LTE-driving-2016.down", Format::Mahimahi, 120.0, 0.0, 4.56, [0.00, 0.00, 3.48, 12.73, 51.12], Some((1.12, 22.0)), 10.3),
    row("ATT-LTE-driving-2016.up", Format::Mahimahi, 120.0, 0.0, 1.91, [0.00, 0.00, 1.32, 5.88, 19.08], Some((4.06, 21.0)), 12.7),
    row("TMobile-LTE-short.down", Format::Mahimahi, 140.0, 0.0, 16.70, [0.00, 0.71, 14.40, 39.48, 66.72], Some((0.92, 101.0)), 34.5),
    row("Verizon-EVDO-driving.down", Format::Mahimahi, 1062.0, 0.0, 0.52, [0.00, 0.00, 0.36, 1.80, 7.20], Some((11.57, 759.0)), 2.3),
    row("trace-3201711-timessquare", Format::Mahimahi, 128.1, 0.0, 3.97, [0.00, 0.36, 3.24, 10.56, 18.24], Some((2.08, 118.0)), 4.9),
    row("norway-bus.ljansbakken-oslo-report.2010-09-28_1407CEST.log", Format::SecondsMbps, 461.9, 1.009, 2.79, [0.11, 0.27, 2.66, 5.01, 5.50], None, 4.9),
    row("fcc-trace_866_http---www.amazon.com", Format::SecondsMbps, 1840.0, 5.0, 2.62, [0.74, 0.89, 0.95, 5.25, 7.69], None, 6.8),
    row("oboe-trace_26.txt", Format::MillisecondsKbps, 154.3, 0.528, 4.72, [2.30, 2.47, 4.63, 6.43, 6.65], None, 2.0),
    row("lumos5g-5g_trace_100_walking", Format::SecondsMbps, 799.0, 1.0, 498.55, [0.00, 9.00, 220.00, 1450.00, 1770.00], Some((4.00, 764.0)), 1157.0),
    row("irish5g-driving-B_2019.12.16_07.22.43.csv", Format::GnettrackCsv, 2596.0, 1.0, 24.71, [0.00, 0.00, 10.70, 111.47, 532.90], Some((21.00, 1051.0)), 378.3),
    row("nyu-mets-bus62.csv", Format::ValueUnitCsv, 3293.0, 0.0, 2.64, [0.00, 0.65, 2.55, 4.60, 12.30], Some((7.00, 2613.0)), 4.1),
    row("starlink-lagos-first30min.csv", Format::StarlinkCsv, 1800.0, 0.0, 83.45, [0.01, 2.19, 80.28, 200.08, 330.66], None, 127.7),
];

#[test]
fn every_recorded_trace_is_detected_and_has_the_statistics_of_the_table() {
    let Some(folder) = recordings() else { return };
    for row in &TABLE {
        let bytes = std::fs::read(folder.join(row.file)).unwrap();
        assert_eq!(detect(&bytes).unwrap(), row.format, "{}", row.file);
        let trace = read(&bytes, &ReadOptions::default()).unwrap();
        row.check(&Statistics::of(&trace));
    }
}

#[test]
fn a_named_format_equals_the_detected_one() {
    let Some(folder) = recordings() else { return };
    for row in &TABLE {
        let bytes = std::fs::read(folder.join(row.file)).unwrap();
        let named = ReadOptions { format: Some(row.format), ..ReadOptions::default() };
        assert_eq!(read(&bytes, &named), read(&bytes, &ReadOptions::default()), "{}", row.file);
    }
}

#[test]
fn the_other_direction_of_starlink_is_its_first_column() {
    let Some(folder) = recordings() else { return };
    let bytes = std::fs::read(folder.join("starlink-lagos-first30min.csv")).unwrap();
    let up = read(&bytes, &ReadOptions { direction: Direction::Up, ..ReadOptions::default() }).unwrap();
    let Trace::Rates { points, end_ns } = up else { panic!("not a rate series") };
    assert_eq!((points[0], points.len(), end_ns), ((0, 26_507_841), 18_000, 1_800_000_000_000));
}

#[test]
fn rows_with_pings_can_be_left_out() {
    let Some(folder) = recordings() else { return };
    let bytes = std::fs::read(folder.join("irish5g-driving-B_2019.12.16_07.22.43.csv")).unwrap();
    let points = |drop_ping_rows| {
        let trace = read(&bytes, &ReadOptions { drop_ping_rows, ..ReadOptions::default() }).unwrap();
        let Trace::Rates { points, end_ns } = trace else { panic!("not a rate series") };
        assert_eq!(end_ns, 2_597_000_000_000, "the last row holds one step in both cases");
        points.len()
    };
    // Seconds with a row, and seconds with a row without a ping result, counted by another program.
    assert_eq!((points(false), points(true)), (SECONDS, SECONDS_WITHOUT_PING));
}

#[test]
fn a_delay_log_is_detected_and_rejected() {
    let Some(folder) = recordings() else { return };
    let bytes = std::fs::read(folder.join("leo-delay-Starlink_SEA_NY_15_BP_path.log")).unwrap();
    let error = read(&bytes, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.line, 1);
    assert!(error.to_string().contains("a delay trace, not a rate trace"), "{error}");
}

#[test]
fn written_traces_are_read_back_exactly() {
    let Some(folder) = recordings() else { return };
    for row in &TABLE {
        let bytes = std::fs::read(folder.join(row.file)).unwrap();
        let trace = read(&bytes, &ReadOptions::default()).unwrap();
        let text = match trace {
            Trace::Opportunities { .. } => write_mahimahi(&trace).unwrap(),
            Trace::Rates { .. } => write_airpath_csv(&trace, 0).unwrap(),
        };
        assert_eq!(read(text.as_bytes(), &ReadOptions::default()).as_ref(), Ok(&trace), "{}", row.file);
        if row.format == Format::Mahimahi {
            assert_eq!(text.as_bytes(), bytes, "{}", row.file);
        }
    }
}

#[test]
fn conversions_preserve_the_capacity_of_traces() {
    let Some(folder) = recordings() else { return };
    for row in &TABLE {
        let trace = read(&std::fs::read(folder.join(row.file)).unwrap(), &ReadOptions::default()).unwrap();
        let opportunities = to_opportunities(&trace).unwrap();
        let rates = to_rates(&opportunities, 100_000_000).unwrap();
        let bits = |trace| Statistics::of(trace).mean_bps * trace.period_ns() as f64 / 1e9;
        // Conversion to opportunities loses less than one packet; the reverse, half a bit per second and bin.
        let lost = bits(&trace) - bits(&opportunities);
        assert!((-1.0..12_001.0).contains(&lost), "{}: {lost} bits", row.file);
        let rounded = (bits(&opportunities) - bits(&rates)).abs();
        assert!(rounded <= 0.5 * rates.period_ns() as f64 / 1e9 + 1.0, "{}: {rounded} bits", row.file);
    }
}

/// Counted with a few lines of Python over the file's `Timestamp` and `PINGAVG` columns.
const SECONDS: usize = 2283;
const SECONDS_WITHOUT_PING: usize = 2262;

#[expect(clippy::too_many_arguments, reason = "the columns of a table")]
const fn row(
    file: &'static str,
    format: Format,
    duration: f64,
    median_step: f64,
    mean: f64,
    bins: [f64; 5],
    outage: Option<(f64, f64)>,
    largest_step: f64,
) -> Row {
    Row { file, format, duration, median_step, mean, bins, outage, largest_step }
}

impl Row {
    fn check(&self, found: &Statistics) {
        let is = |what: &str, found: f64, printed: f64, last_digit: f64| {
            // Half of the last printed digit, and the error of binary fractions.
            let tolerance = 0.5 * last_digit + 1e-9;
            assert!((found - printed).abs() <= tolerance, "{}: {what} is {found}, not {printed}", self.file);
        };
        is("the duration", found.duration_ns as f64 / 1e9 - self.median_step, self.duration, 0.1);
        is("the mean", found.mean_bps / 1e6, self.mean, 0.01);
        let bins = [found.min_bps, found.p5_bps, found.p50_bps, found.p95_bps, found.max_bps];
        for (bin, printed) in bins.into_iter().zip(self.bins) {
            is("a percentile", bin / 1e6, printed, 0.01);
        }
        is("the largest step", found.largest_step_bps / 1e6, self.largest_step, 0.1);
        match (found.longest_outage, self.outage) {
            (Some(outage), Some((length, start))) => {
                is("the longest outage", outage.duration_ns as f64 / 1e9, length, 0.01);
                is("its start", outage.start_ns as f64 / 1e9, start, 1.0);
            }
            (found, printed) => assert_eq!(found.is_some(), printed.is_some(), "{}: outages", self.file),
        }
    }
}

#[expect(clippy::print_stdout, reason = "a skipped test says why")]
fn recordings() -> Option<PathBuf> {
    let folder = std::env::var_os("AIRPATH_TRACES").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: no recorded traces; name their folder in AIRPATH_TRACES");
    }
    folder
}
