//! Traces that a plan refers to by index. Runs share them.

use std::sync::Arc;

use airpath_channel::Step;
use airpath_model::{Bytes, Duration, Rate};
use airpath_trace::Trace;

/// A trace in the form that links take.
#[derive(Clone, Debug)]
pub enum Input {
    /// Packet-delivery opportunities.
    Opportunities {
        /// Nanoseconds since the start of the trace.
        instants: Arc<[u64]>,
        /// The capacity of each opportunity.
        size: Bytes,
    },
    /// Rates, each valid until the next.
    Rates {
        /// The rates.
        steps: Arc<[Step]>,
        /// The length of the trace.
        length: Duration,
    },
}

impl From<&Trace> for Input {
    fn from(trace: &Trace) -> Self {
        match trace {
            Trace::Opportunities { instants_ns, opportunity_bytes } => Self::Opportunities {
                instants: instants_ns.as_slice().into(),
                size: Bytes::new(*opportunity_bytes),
            },
            Trace::Rates { points, end_ns } => Self::Rates {
                steps: points
                    .iter()
                    .map(|&(start, rate)| Step {
                        start: Duration::from_nanos(start),
                        rate: Rate::from_bps(rate),
                    })
                    .collect(),
                length: Duration::from_nanos(*end_ns),
            },
        }
    }
}
