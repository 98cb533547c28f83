//! From rates to opportunities and back.

use thiserror::Error;

use crate::trace::pieces;
use crate::{OPPORTUNITY_BYTES, Trace};

/// The most entries that a conversion makes: 50 million, about 75 GB of opportunities.
pub const MAX_ENTRIES: u64 = 50_000_000;

const MILLISECOND_NS: u64 = 1_000_000;
/// Bits times nanoseconds per second in one opportunity: rates are per second, times in nanoseconds.
const OPPORTUNITY: u128 = OPPORTUNITY_BYTES as u128 * 8 * 1_000_000_000;

/// Why a conversion was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConversionError {
    /// The result would have more than [`MAX_ENTRIES`] entries.
    #[error("the result would have {0} entries; accepted: at most {MAX_ENTRIES}")]
    TooLong(u128),
    /// The trace never carries a packet of 1500 bytes, and an empty packet-delivery trace does not exist.
    #[error("the trace carries less than one packet of {OPPORTUNITY_BYTES} bytes; accepted: at least one")]
    NoOpportunity,
    /// Bins must have a width.
    #[error("a bin width of 0 ns; accepted: greater than 0")]
    NoWidth,
    /// A packet-delivery trace of another opportunity size has no place in Mahimahi's format.
    #[error("opportunities of {0} bytes; accepted: {OPPORTUNITY_BYTES}")]
    OpportunityBytes(u64),
}

/// The delivery opportunities of a rate series: one whenever the integral of the rate has passed another 1500
/// bytes, at the next whole millisecond, so that nothing is offered before the rate has provided it.
///
/// What is left over at the end, below 1500 bytes, is lost, and a packet-delivery trace has its last opportunity as
/// its period: an outage at the end of the series is cut. Opportunities are returned as they are.
pub fn to_opportunities(trace: &Trace) -> Result<Trace, ConversionError> {
    let Trace::Rates { points, end_ns } = trace else { return Ok(trace.clone()) };
    let instants_ns = opportunity_instants(points, *end_ns)?;
    Ok(Trace::Opportunities { instants_ns, opportunity_bytes: OPPORTUNITY_BYTES })
}

/// The rates of a packet-delivery trace over bins of `bin_ns`, to the nearest bit per second. The last bin is cut
/// at the period. Rates are returned as they are.
///
/// An opportunity counts for the time before it: a bin contains its end and not its start, except that an
/// opportunity at zero counts for the first. So nothing is lost, and one packet each millisecond is 12 Mbit/s in
/// every bin.
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

/// The work of [`to_opportunities`]: at least one instant, the last greater than zero.
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
            // At most stop - start, since `next` is within the piece; and then the rate is not zero.
            let after = (next - passed).div_ceil(u128::from(rate)) as u64;
            instants_ns.push(whole_milliseconds(start + after) * MILLISECOND_NS);
            next += OPPORTUNITY;
        }
        passed = at_stop;
    }
    Ok(instants_ns)
}

/// The first whole millisecond not before an instant.
pub(crate) fn whole_milliseconds(instant_ns: u64) -> u64 {
    instant_ns.div_ceil(MILLISECOND_NS)
}
