//! The common representation of all trace files.

/// Bytes per delivery opportunity: Mahimahi's packet size.
pub const OPPORTUNITY_BYTES: u64 = 1500;

/// The capacity of a link over time. Repeats with its period if a run is longer.
///
/// Readers and conversions maintain the invariants stated at each variant; callers that construct a trace
/// must do so, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Instants at which a fixed number of bytes may leave; unused opportunities are lost.
    Opportunities {
        /// Nanoseconds since the start of the trace, never decreasing; at least one, the last greater than zero.
        /// The last one is the period.
        instants_ns: Vec<u64>,
        /// Bytes of each opportunity.
        opportunity_bytes: u64,
    },
    /// A rate that holds until the next one.
    Rates {
        /// (start in nanoseconds, bits per second): at least one, the first at zero, starts strictly increasing. A
        /// rate of zero is an outage.
        points: Vec<(u64, u64)>,
        /// End of the last rate, nanoseconds, after the last start: the period.
        end_ns: u64,
    },
}

impl Trace {
    /// Returns the period in nanoseconds, after which the trace repeats.
    pub fn period_ns(&self) -> u64 {
        match self {
            Self::Opportunities { instants_ns, .. } => instants_ns.last().copied().unwrap_or(0),
            Self::Rates { end_ns, .. } => *end_ns,
        }
    }
}

/// Returns the segments of constant rate of a series: (start, stop, bits per second), times in nanoseconds.
pub(crate) fn pieces(points: &[(u64, u64)], end_ns: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let stops = points.iter().skip(1).map(|point| point.0).chain(core::iter::once(end_ns));
    points.iter().zip(stops).map(|(&(start, rate), stop)| (start, stop.max(start), rate))
}
