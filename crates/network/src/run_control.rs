//! Progress and cancellation of a run. Neither can change a result.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use airpath_model::Timestamp;

/// The state shared between a run and its caller.
#[derive(Debug, Default)]
pub struct RunControl {
    cancelled: AtomicBool,
    /// The completed part of simulated time, in parts per million.
    done_ppm: AtomicU64,
}

impl RunControl {
    /// Requests that the run stop soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the completed share of simulated time, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.done_ppm.load(Ordering::Relaxed) as f64 * 1e-6
    }

    /// Records that the run has reached `now` of `end`.
    pub fn report(&self, now: Timestamp, end: Timestamp) {
        let share = now.as_secs_f64() / end.as_secs_f64().max(1e-9);
        self.done_ppm.store((share * 1e6) as u64, Ordering::Relaxed);
    }
}
