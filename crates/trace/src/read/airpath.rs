//! airpath's own CSV: the header `time_s,rate_mbps`, then rows of seconds and Mbit/s, exact to the nanosecond
//! and the bit per second.
//!
//! The series ends one median step after the last row. Otherwise a closing row with an empty rate states its
//! end.

use crate::line::{Line, first_line, lines};
use crate::series::Series;
use crate::{Trace, TraceError};

pub(crate) const HEADER: &str = "time_s,rate_mbps";

const ROW: &str = "two non-negative numbers between a comma, seconds and Mbit/s";

/// Returns whether the line is the header of this format.
pub(crate) fn is_header(line: Line<'_>) -> bool {
    line.comma_fields().eq(HEADER.as_bytes().split(|byte| *byte == b','))
}

pub(crate) fn read(bytes: &[u8]) -> Result<Trace, TraceError> {
    let header = first_line(bytes, HEADER)?;
    if !is_header(header) {
        return Err(header.refuse(header.text, HEADER));
    }
    let mut series = Series::default();
    let mut closing: Option<(Line<'_>, u64)> = None;
    for line in lines(bytes).skip(1) {
        if let Some((close, _)) = closing {
            return Err(close.refuse(close.text, "an empty rate in the last row only"));
        }
        let [time, rate] = line.exactly(line.comma_fields(), ROW)?;
        let time = line.number(time, 9, ROW)?;
        if rate.is_empty() {
            closing = Some((line, time));
        } else {
            series.push(line, time, line.number(rate, 6, ROW)?)?;
        }
    }
    if series.is_empty() {
        return Err(header.refuse(header.text, "the header and at least one row with a rate"));
    }
    let (line, trace) = match closing {
        Some((line, end)) => (line, series.finish_at(end)),
        None => (header, series.finish()),
    };
    trace.ok_or_else(|| line.refuse(line.text, "an end after the row above"))
}
