//! Two columns between white space: time and rate.
//!
//! Oboe writes each chunk as two lines with one rate (its start and its end) and nothing about the time
//! between chunks, for which the rate of the previous chunk holds.

use crate::line::{Line, lines};
use crate::series::Series;
use crate::{Trace, TraceError, decimal};

const ROW: &str = "two non-negative numbers between white space, time and rate";

/// Returns whether the line could be a row.
pub(crate) fn is_row(line: Line<'_>) -> bool {
    line.exactly::<2>(line.space_fields(), ROW)
        .is_ok_and(|fields| fields.iter().all(|field| decimal::parse(field, 0).is_some()))
}

/// Reads a trace with the decimals that convert the file's units to nanoseconds and bits per second.
pub(crate) fn read(bytes: &[u8], time_decimals: i32, rate_decimals: i32) -> Result<Trace, TraceError> {
    let series = series(bytes, time_decimals, rate_decimals)?;
    series.finish().ok_or_else(|| TraceError::described(1, "an empty file", ROW))
}

/// Reads the rows in the units defined by the decimals.
pub(crate) fn series(bytes: &[u8], time_decimals: i32, rate_decimals: i32) -> Result<Series, TraceError> {
    let mut series = Series::default();
    for line in lines(bytes) {
        let [time, rate] = line.exactly(line.space_fields(), ROW)?;
        let time = line.number(time, time_decimals, ROW)?;
        let rate = line.number(rate, rate_decimals, ROW)?;
        series.push(line, time, rate)?;
    }
    Ok(series)
}
