//! The clock of a run: the system's monotonic clock, counted from the run's start.

use std::time::Instant;

use airpath_model::{Duration, Timestamp};

/// Tells how long a run has been going on. Setting the system's time does not change it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A run that starts now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// The time since the start of the run.
    pub fn now(&self) -> Timestamp {
        // Centuries fit.
        Timestamp::ZERO + Duration::from_nanos(self.start.elapsed().as_nanos() as u64)
    }
}
