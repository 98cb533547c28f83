//! Recorded rates.

use alloc::sync::Arc;

use airpath_model::declare::{Deserialize, JsonSchema, Serialize};

use super::{DeclaredRate, RateFacts, Recording};
use crate::{InvalidChannel, RateProcess, Schedule, ScheduleEnd};

/// The parameters of recorded rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLogConfig {
    /// Index of the trace in the inputs of the run.
    #[schemars(example = 0)]
    pub trace: usize,
    /// Whether to stop at the end of the trace instead of restarting it.
    #[schemars(example = false)]
    pub once: bool,
}

impl DeclaredRate for RateLogConfig {
    fn process(&self, facts: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        let Some(Recording::Rates { steps, length }) = facts.recordings.get(self.trace) else {
            return Err(InvalidChannel::NotARateLog);
        };
        let end = if self.once { ScheduleEnd::StopAfter(*length) } else { ScheduleEnd::RepeatAfter(*length) };
        Schedule::new(Arc::clone(steps), end).map(RateProcess::from)
    }
}
