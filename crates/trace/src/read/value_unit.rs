//! NYU-METS: headerless CSV of rate and unit, one row per second. The unit differs from row to row.

use crate::line::{Line, lines};
use crate::series::Series;
use crate::{Trace, TraceError};

const ROW: &str = "a non-negative number, a comma and one of bits/sec, Kbits/sec, Mbits/sec, Gbits/sec";

const STEP_NS: u64 = 1_000_000_000;

/// Returns whether the line could be a row.
pub(crate) fn is_row(line: Line<'_>) -> bool {
    rate(line).is_ok()
}

pub(crate) fn read(bytes: &[u8]) -> Result<Trace, TraceError> {
    let mut series = Series::default();
    let mut time_ns = 0;
    for line in lines(bytes) {
        series.push(line, time_ns, rate(line)?)?;
        time_ns += STEP_NS;
    }
    series.finish_at(time_ns).ok_or_else(|| TraceError::described(1, "an empty file", ROW))
}

fn rate(line: Line<'_>) -> Result<u64, TraceError> {
    let [value, unit] = line.exactly(line.comma_fields(), ROW)?;
    let decimals = match unit {
        b"bits/sec" => 0,
        b"Kbits/sec" => 3,
        b"Mbits/sec" => 6,
        b"Gbits/sec" => 9,
        _ => return Err(line.refuse(unit, ROW)),
    };
    line.number(value, decimals, ROW)
}
