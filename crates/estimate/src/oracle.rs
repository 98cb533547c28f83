//! The truth about the link: the bound that no estimator can beat.

use alloc::boxed::Box;

use airpath_model::{CapacitySource, Timestamp, TrueRate};

use crate::report;

/// The true rate at each question; zero in an outage.
#[derive(Debug)]
pub struct Oracle {
    truth: Box<dyn TrueRate>,
    /// The last answer, byte/s; what the protocol works with until it asks again.
    answered: Option<f64>,
}

impl Oracle {
    /// Answers with `truth`.
    pub fn new(truth: Box<dyn TrueRate>) -> Self {
        Self { truth, answered: None }
    }
}

impl CapacitySource for Oracle {
    fn capacity(&mut self, now: Timestamp) -> Option<f64> {
        self.answered = Some(self.truth.rate(now).bytes_per_second());
        self.answered
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        if let Some(capacity) = self.answered {
            report::capacity(report, capacity);
        }
    }
}
