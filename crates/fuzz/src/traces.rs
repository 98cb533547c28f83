//! Traces of every format: read, summarised, converted, written, and read back.

use crate::target::Target;
use airpath_trace::{
    Direction, Format, ReadOptions, Statistics, Trace, read, to_opportunities, to_rates, write_airpath_csv,
    write_mahimahi,
};

#[path = "../../trace/tests/it/samples.rs"]
mod samples;

pub(crate) fn target() -> Target {
    let seeds = samples::SAMPLES.map(|text| text.as_bytes().to_vec()).to_vec();
    Target { name: "traces", seeds, parse: Box::new(parse) }
}

fn parse(bytes: &[u8]) -> bool {
    let detected = each_way(bytes, None);
    // A file parsed as another format counts as corrupted input, too.
    let named = Format::ALL.iter().filter(|format| each_way(bytes, Some(**format))).count();
    assert!(!detected || named > 0, "detected as a format that then refuses it");
    detected
}

fn each_way(bytes: &[u8], format: Option<Format>) -> bool {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let up = ReadOptions { direction: Direction::Up, drop_ping_rows: true, ..options };
    [options, up].into_iter().filter(|options| takes(bytes, *options)).count() > 0
}

fn takes(bytes: &[u8], options: ReadOptions) -> bool {
    let trace = match read(bytes, &options) {
        Ok(trace) => trace,
        Err(error) => {
            let lines = bytes.split(|&byte| byte == b'\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(error.to_string().len() < 1000, "{error}");
            return false;
        }
    };
    assert!(trace.period_ns() > 0, "{trace:?}");
    let statistics = Statistics::of(&trace);
    assert!(statistics.mean_bps.is_finite() && statistics.max_bps >= statistics.min_bps, "{statistics:?}");
    // Long traces with few bytes are allowed, but their output files are long; the number of entries is
    // bounded in that case.
    if trace.period_ns() < 100_000_000_000 && statistics.mean_bps < 1e9 {
        let _ = (to_opportunities(&trace), write_mahimahi(&trace));
        let _ = to_rates(&trace, 100_000_000);
        if let (Trace::Rates { .. }, Ok(text)) = (&trace, write_airpath_csv(&trace, 100_000_000)) {
            assert_eq!(read(text.as_bytes(), &ReadOptions::default()), Ok(trace));
        }
    }
    true
}
