//! Packet-delivery opportunities.
//!
//! The rules are those of Mahimahi's `mm-link`: one nonnegative integer of milliseconds per line, never
//! decreasing, no blank line, at least one line, the last value greater than zero. Equal lines are several
//! opportunities in one millisecond. The last value is also the period.

use crate::line::{Line, lines};
use crate::series::LATEST_NS;
use crate::{OPPORTUNITY_BYTES, Trace, TraceError};

const ROW: &str = "a non-negative integer of milliseconds";
const LIMIT: &str = "a time below 292 years";

/// Returns whether the line could be an opportunity.
pub(crate) fn is_row(line: Line<'_>) -> bool {
    !line.text.is_empty() && line.text.iter().all(u8::is_ascii_digit)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Trace, TraceError> {
    let mut instants_ns: Vec<u64> = Vec::new();
    let mut number = 1;
    for line in lines(bytes) {
        if !is_row(line) {
            return Err(line.refuse(line.text, ROW));
        }
        let instant = line.number(line.text, 6, LIMIT)?;
        if instant > LATEST_NS {
            return Err(line.refuse(line.text, LIMIT));
        }
        if instants_ns.last().is_some_and(|last| instant < *last) {
            return Err(line.refuse(line.text, "an integer not below that of the line above"));
        }
        instants_ns.push(instant);
        number = line.number;
    }
    match instants_ns.last() {
        None => Err(TraceError::described(number, "an empty file", ROW)),
        Some(0) => Err(TraceError::described(number, "`0` as the last value", "a last value greater than 0")),
        Some(_) => Ok(Trace::Opportunities { instants_ns, opportunity_bytes: OPPORTUNITY_BYTES }),
    }
}
