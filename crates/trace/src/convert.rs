//! Conversions between rates and delivery opportunities.

use thiserror::Error;

use crate::trace::pieces;
use crate::{OPPORTUNITY_BYTES, Trace};

/// Maximum number of entries of a conversion's result: 50 million, about 75 GB of opportunities.
pub const MAX_ENTRIES: u64 = 50_000_000;

const MILLISECOND_NS: u64 = 1_000_000;
/// Bits times nanoseconds per second in one opportunity: rates are per second, times in nanoseconds.
const OPPORTUNITY: u128 = OPPORTUNITY_BYTES as u128 * 8 * 1_000_000_000;

/// The reason why a conversion was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConversionError {
    /// The result would have more than [`MAX_ENTRIES`] entries.
    #[error("the result would have {0} entries; accepted: at most {MAX_ENTRIES}")]
    TooLong(u128),
    /// The trace never carries a packet of 1500 bytes, and a packet-delivery trace cannot be empty.
    #[error("the trace carries less than one packet of {OPPORTUNITY_BYTES} bytes; accepted: at least one")]
    NoOpportunity,
    /// The bin width is zero.
    #[error("a bin width of 0 ns; accepted: greater than 0")]
    NoWidth,
    /// Mahimahi's format cannot represent another opportunity size.
    #[error("opportunities of {0} bytes; accepted: {OPPORTUNITY_BYTES}")]
    OpportunityBytes(u64),
}

/// Returns the delivery opportunities of a rate series: one for every 1500 bytes of the integral of the rate,
/// at the next whole millisecond, so that an opportunity never precedes the rate that provides it.
///
/// The remainder at the end, below 1500 bytes, is lost. The period of a packet-delivery trace is its last
/// opportunity: an outage at the end of the series is cut off. Opportunities are returned unchanged.
pub fn to_opportunities(trace: &Trace) -> Result<Trace, ConversionError> {
    let Trace::Rates { points, end_ns } = trace else { return Ok(trace.clone()) };
    let instants_ns = opportunity_instants(points, *end_ns)?;
    Ok(Trace::Opportunities { instants_ns, opportunity_bytes: OPPORTUNITY_BYTES })
}

/// Returns the rates of a packet-delivery trace over bins of `bin_ns`, rounded to the nearest bit per second.
/// The last bin is cut off at the period. Rates are returned unchanged.
///
/// An opportunity counts for the time before it: a bin contains its end and not its start, except that an
/// opportunity at zero counts for the first bin. Thus no opportunity is lost, and one packet per millisecond
/// is 12 Mbit/s in every bin.
pub fn to_rates(trace: &Trace, bin_ns: u64) -> Result<Trace, ConversionError> {
    let Trace::Opportunities { instants_ns, opportunity_bytes } = trace else { return Ok(trace.clone()) };
    if bin_ns == 0 {
        return Err(ConversionError::NoWidth);
    }
    let end_ns = trace.period_ns();
    if end_ns == 0 {
        return Err(ConversionError::NoOpportunity);
    }
    let bins = end_ns.div_ceil(bin_ns);
    if bins > MAX_ENTRIES {
        return Err(ConversionError::TooLong(u128::from(bins)));
    }

    let mut counts = vec![0u64; bins as usize];
    for instant in instants_ns {
        counts[(instant.saturating_sub(1) / bin_ns) as usize] += 1;
    }
    let points = counts.into_iter().zip(0..).map(|(count, bin): (u64, u64)| {
        let start = bin * bin_ns;
        let width = u128::from(bin_ns.min(end_ns - start));
        let bit_nanoseconds = u128::from(count) * u128::from(*opportunity_bytes) * 8_000_000_000;
        let rate = (bit_nanoseconds + width / 2) / width;
        (start, u64::try_from(rate).unwrap_or(u64::MAX))
    });
    Ok(Trace::Rates { points: points.collect(), end_ns })
}

/// Computes the instants of [`to_opportunities`]: at least one, the last greater than zero.
pub(crate) fn opportunity_instants(points: &[(u64, u64)], end_ns: u64) -> Result<Vec<u64>, ConversionError> {
    // The sum is at most the largest rate times the period, two 64-bit numbers.
    let total: u128 =
        pieces(points, end_ns).map(|(start, stop, rate)| u128::from(stop - start) * u128::from(rate)).sum();
    let count = total / OPPORTUNITY;
    if count > u128::from(MAX_ENTRIES) {
        return Err(ConversionError::TooLong(count));
    }
    if count == 0 {
        return Err(ConversionError::NoOpportunity);
    }

    let mut instants_ns = Vec::with_capacity(count as usize);
    let mut passed: u128 = 0;
    let mut next = OPPORTUNITY;
    for (start, stop, rate) in pieces(points, end_ns) {
        let at_stop = passed + u128::from(stop - start) * u128::from(rate);
        while next <= at_stop {
            // At most stop - start, since `next` is within the segment; the rate is then nonzero.
            let after = (next - passed).div_ceil(u128::from(rate)) as u64;
            instants_ns.push(whole_milliseconds(start + after) * MILLISECOND_NS);
            next += OPPORTUNITY;
        }
        passed = at_stop;
    }
    Ok(instants_ns)
}

/// Rounds an instant up to a whole millisecond.
pub(crate) fn whole_milliseconds(instant_ns: u64) -> u64 {
    instant_ns.div_ceil(MILLISECOND_NS)
}
