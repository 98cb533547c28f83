//! Recorded packet-delivery opportunities.

use alloc::sync::Arc;

use airpath_model::declare::{Deserialize, JsonSchema, Serialize};

use super::{DeclaredRate, RateFacts, Recording};
use crate::{InvalidChannel, Opportunities, RateProcess, TraceEnd};

/// The parameters of recorded opportunities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpportunitiesConfig {
    /// Index of the trace in the inputs of the run.
    #[schemars(example = 0)]
    pub trace: usize,
    /// Whether to stop at the end of the trace instead of restarting it.
    #[schemars(example = false)]
    pub once: bool,
}

impl DeclaredRate for OpportunitiesConfig {
    fn process(&self, facts: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        let Some(Recording::Opportunities { instants, size }) = facts.recordings.get(self.trace) else {
            return Err(InvalidChannel::NotOpportunities);
        };
        let end = if self.once { TraceEnd::Stop } else { TraceEnd::Repeat };
        Opportunities::new(Arc::clone(instants), *size, end).map(RateProcess::from)
    }
}
