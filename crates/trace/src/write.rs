//! Writing of traces.

use core::fmt::Write as _;

use crate::convert::{opportunity_instants, whole_milliseconds};
use crate::read::airpath::HEADER;
use crate::series::step_after;
use crate::{ConversionError, OPPORTUNITY_BYTES, Trace, decimal, to_rates};

/// Returns the text of a Mahimahi trace. Rates are converted by [`crate::to_opportunities`]; an opportunity
/// between two milliseconds is written at the later one.
pub fn write_mahimahi(trace: &Trace) -> Result<String, ConversionError> {
    let converted;
    let instants_ns = match trace {
        Trace::Opportunities { opportunity_bytes, .. } if *opportunity_bytes != OPPORTUNITY_BYTES => {
            return Err(ConversionError::OpportunityBytes(*opportunity_bytes));
        }
        Trace::Opportunities { instants_ns, .. } => instants_ns,
        Trace::Rates { points, end_ns } => {
            converted = opportunity_instants(points, *end_ns)?;
            &converted
        }
    };
    if trace.period_ns() == 0 {
        return Err(ConversionError::NoOpportunity);
    }
    let mut text = String::new();
    for instant in instants_ns {
        let _ = writeln!(text, "{}", whole_milliseconds(*instant)); // writing to a String cannot fail
    }
    Ok(text)
}

/// Returns the text of airpath's own CSV, from which [`crate::read`] returns the same series exactly.
/// Opportunities are converted by [`to_rates`] with bins of `bin_ns`, which has no effect on rates.
pub fn write_airpath_csv(trace: &Trace, bin_ns: u64) -> Result<String, ConversionError> {
    let converted;
    let (points, end_ns) = match trace {
        Trace::Rates { points, end_ns } => (points, *end_ns),
        Trace::Opportunities { .. } => {
            converted = to_rates(trace, bin_ns)?;
            let Trace::Rates { points, end_ns } = &converted else {
                return Err(ConversionError::NoOpportunity);
            };
            (points, *end_ns)
        }
    };
    let mut text = format!("{HEADER}\n");
    for (time_ns, bps) in points {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{}", decimal::format(*time_ns, 9), decimal::format(*bps, 6));
    }
    let implied_end = points.last().map(|last| last.0 + step_after(points));
    if implied_end != Some(end_ns) {
        let _ = writeln!(text, "{},", decimal::format(end_ns, 9));
    }
    Ok(text)
}
