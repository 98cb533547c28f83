//! Summary statistics of a trace.

use crate::Trace;
use crate::trace::pieces;

const BIN_NS: u64 = 100_000_000;
const SECOND_NS: u64 = 1_000_000_000;
const BITS_PER_BYTE: u128 = 8;

/// A summary of a trace. Rates are in bits per second.
///
/// Percentiles are over whole bins of 100 ms from the start, with linear interpolation between ranks. A bin
/// contains its start and not its end. For shorter traces, all percentiles are the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The period, nanoseconds.
    pub duration_ns: u64,
    /// The mean rate over the period.
    pub mean_bps: f64,
    /// The smallest bin.
    pub min_bps: f64,
    /// The 5th percentile of the bins.
    pub p5_bps: f64,
    /// The median of the bins.
    pub p50_bps: f64,
    /// The 95th percentile of the bins.
    pub p95_bps: f64,
    /// The largest bin.
    pub max_bps: f64,
    /// The longest time without capacity, the first of equal ones. Opportunities: the longest gap between two
    /// (`None` for a single one). Rates: the longest run of exactly zero (`None` if there is none). The
    /// repetition of the trace is not taken into account.
    pub longest_outage: Option<Outage>,
    /// The largest difference between the means of two adjacent whole seconds; zero for traces shorter than
    /// two seconds.
    pub largest_step_bps: f64,
}

/// A time without capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its start, nanoseconds.
    pub start_ns: u64,
    /// Its duration, nanoseconds.
    pub duration_ns: u64,
}

impl Statistics {
    /// Computes the statistics of a trace. The computation time depends on the number of entries, not on the
    /// duration.
    pub fn of(trace: &Trace) -> Self {
        let duration_ns = trace.period_ns();
        let mean_bps = if duration_ns == 0 { 0.0 } else { bit_nanoseconds(trace) / duration_ns as f64 };
        let mut bins =
            if duration_ns < BIN_NS { vec![Run { bps: mean_bps, count: 1 }] } else { bins(trace, BIN_NS) };
        let seconds = self::bins(trace, SECOND_NS);
        let steps = seconds.windows(2).map(|pair| (pair[1].bps - pair[0].bps).abs());
        let largest_step_bps = steps.fold(0.0, f64::max);

        bins.sort_by(|a, b| a.bps.total_cmp(&b.bps));
        let percentile = |fraction| percentile(&bins, fraction);
        Self {
            duration_ns,
            mean_bps,
            min_bps: percentile(0.0),
            p5_bps: percentile(0.05),
            p50_bps: percentile(0.50),
            p95_bps: percentile(0.95),
            max_bps: percentile(1.0),
            longest_outage: longest_outage(trace),
            largest_step_bps,
        }
    }
}

/// Adjacent bins with equal rates.
#[derive(Clone, Copy, Debug)]
struct Run {
    bps: f64,
    count: u64,
}

/// Returns the whole bins of a trace as runs, so that a long trace with few entries stays small.
fn bins(trace: &Trace, width_ns: u64) -> Vec<Run> {
    let whole = trace.period_ns() / width_ns;
    match trace {
        Trace::Opportunities { instants_ns, opportunity_bytes } => {
            opportunity_bins(instants_ns, *opportunity_bytes, width_ns, whole)
        }
        Trace::Rates { points, end_ns } => rate_bins(points, width_ns, *end_ns),
    }
}

fn opportunity_bins(instants_ns: &[u64], opportunity_bytes: u64, width_ns: u64, whole: u64) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut next_bin = 0;
    let within = instants_ns.iter().map(|instant| instant / width_ns).take_while(|bin| *bin < whole);
    let opportunity_bits = BITS_PER_BYTE * u128::from(opportunity_bytes);
    for (bin, count) in counted(within) {
        push(&mut runs, 0.0, bin - next_bin);
        let bits = (opportunity_bits * count) as f64;
        push(&mut runs, bits * 1e9 / width_ns as f64, 1);
        next_bin = bin + 1;
    }
    push(&mut runs, 0.0, whole - next_bin);
    runs
}

/// Returns each value of a sorted sequence with its number of occurrences.
fn counted(values: impl Iterator<Item = u64>) -> impl Iterator<Item = (u64, u128)> {
    let mut values = values.peekable();
    core::iter::from_fn(move || {
        let value = values.next()?;
        let mut count = 1;
        while values.next_if_eq(&value).is_some() {
            count += 1;
        }
        Some((value, count))
    })
}

fn rate_bins(points: &[(u64, u64)], width_ns: u64, end_ns: u64) -> Vec<Run> {
    let mut runs = Vec::new();
    // The bin that is being filled: its filled duration and its bits. The last bin remains if it is
    // incomplete.
    let (mut filled_ns, mut carried): (u64, u128) = (0, 0);
    for (start, stop, rate) in pieces(points, end_ns) {
        let mut left_ns = stop - start;
        while left_ns > 0 {
            if filled_ns == 0 && left_ns >= width_ns {
                push(&mut runs, rate as f64, left_ns / width_ns);
                left_ns %= width_ns;
                continue;
            }
            let part_ns = left_ns.min(width_ns - filled_ns);
            carried += u128::from(rate) * u128::from(part_ns);
            filled_ns += part_ns;
            left_ns -= part_ns;
            if filled_ns == width_ns {
                push(&mut runs, carried as f64 / width_ns as f64, 1);
                (filled_ns, carried) = (0, 0);
            }
        }
    }
    runs
}

fn push(runs: &mut Vec<Run>, bps: f64, count: u64) {
    if count > 0 {
        runs.push(Run { bps, count });
    }
}

/// Returns the percentile of sorted runs, with linear interpolation between the two nearest ranks.
fn percentile(sorted: &[Run], fraction: f64) -> f64 {
    let count: u64 = sorted.iter().map(|run| run.count).sum();
    let Some(last_rank) = count.checked_sub(1) else { return 0.0 };
    let position = last_rank as f64 * fraction;
    let rank = position as u64;
    let (low, high) = (at_rank(sorted, rank), at_rank(sorted, (rank + 1).min(last_rank)));
    low + (high - low) * (position - rank as f64)
}

fn at_rank(sorted: &[Run], rank: u64) -> f64 {
    let mut passed = 0;
    for run in sorted {
        passed += run.count;
        if rank < passed {
            return run.bps;
        }
    }
    sorted.last().map_or(0.0, |run| run.bps)
}

/// Returns the total capacity of a period, in bits times nanoseconds per second.
fn bit_nanoseconds(trace: &Trace) -> f64 {
    match trace {
        Trace::Opportunities { instants_ns, opportunity_bytes } => {
            instants_ns.len() as f64 * *opportunity_bytes as f64 * 8e9
        }
        Trace::Rates { points, end_ns } => {
            let products = pieces(points, *end_ns)
                .map(|(start, stop, rate)| u128::from(stop - start) * u128::from(rate));
            products.sum::<u128>() as f64
        }
    }
}

fn longest_outage(trace: &Trace) -> Option<Outage> {
    let mut longest: Option<Outage> = None;
    let mut consider = |start_ns: u64, stop_ns: u64| {
        let duration_ns = stop_ns - start_ns;
        if longest.is_none_or(|outage| duration_ns > outage.duration_ns) {
            longest = Some(Outage { start_ns, duration_ns });
        }
    };
    match trace {
        Trace::Opportunities { instants_ns, .. } => {
            // Also before the first opportunity, even if the trace is repeated: it ends with the last.
            if let Some(&first) = instants_ns.first() {
                consider(0, first);
            }
            for pair in instants_ns.windows(2) {
                consider(pair[0], pair[1]);
            }
        }
        Trace::Rates { points, end_ns } => {
            let mut dark_since = None;
            for (start, stop, rate) in pieces(points, *end_ns) {
                if rate > 0 {
                    dark_since = None;
                } else {
                    consider(*dark_since.get_or_insert(start), stop);
                }
            }
        }
    }
    longest
}
