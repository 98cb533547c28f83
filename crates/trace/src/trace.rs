//! What every file becomes.

/// Bytes that one delivery opportunity carries: Mahimahi's packet size.
pub const OPPORTUNITY_BYTES: u64 = 1500;

/// The capacity of a link over time. Repeats with its period when a run is longer.
///
/// Readers and conversions keep the invariants stated at each variant; callers that build a trace by hand must, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Instants at which a fixed number of bytes may leave; an unused opportunity is lost.
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
        /// Where the last rate ends, nanoseconds, after the last start: the period.
        end_ns: u64,
    },
}

impl Trace {
    /// After how many nanoseconds the trace starts over.
    pub fn period_ns(&self) -> u64 {
        match self {
            Self::Opportunities { instants_ns, .. } => instants_ns.last().copied().unwrap_or(0),
            Self::Rates { end_ns, .. } => *end_ns,
        }
    }
}

/// The pieces of constant rate of a series: (start, stop, bits per second), times in nanoseconds.
pub(crate) fn pieces(points: &[(u64, u64)], end_ns: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let stops = points.iter().skip(1).map(|point| point.0).chain(core::iter::once(end_ns));
    points.iter().zip(stops).map(|(&(start, rate), stop)| (start, stop.max(start), rate))
}
