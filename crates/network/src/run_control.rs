//! How the world outside follows a run and stops it. Neither can change a result.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use airpath_model::Timestamp;

/// Shared between a run and whoever waits for it.
#[derive(Debug, Default)]
pub struct RunControl {
    cancelled: AtomicBool,
    /// Parts per million of simulated time done.
    done_ppm: AtomicU64,
}

impl RunControl {
    /// Asks the run to stop soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The share of simulated time that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.done_ppm.load(Ordering::Relaxed) as f64 * 1e-6
    }

    /// The run has come to `now` of `end`.
    pub fn report(&self, now: Timestamp, end: Timestamp) {
        let share = now.as_secs_f64() / end.as_secs_f64().max(1e-9);
        self.done_ppm.store((share * 1e6) as u64, Ordering::Relaxed);
    }
}
