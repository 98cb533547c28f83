//! Traces that a plan refers to by index. Runs share them.

use airpath_channel::Step;
use airpath_channel::rates::Recording;
use airpath_model::{Bytes, Duration, Rate};
use airpath_trace::Trace;

/// A trace of a run.
#[derive(Clone, Debug)]
pub struct Input(pub Recording);

impl From<&Trace> for Input {
    fn from(trace: &Trace) -> Self {
        Self(match trace {
            Trace::Opportunities { instants_ns, opportunity_bytes } => Recording::Opportunities {
                instants: instants_ns.as_slice().into(),
                size: Bytes::new(*opportunity_bytes),
            },
            Trace::Rates { points, end_ns } => Recording::Rates {
                steps: points
                    .iter()
                    .map(|&(start, rate)| Step {
                        start: Duration::from_nanos(start),
                        rate: Rate::from_bps(rate),
                    })
                    .collect(),
                length: Duration::from_nanos(*end_ns),
            },
        })
    }
}
