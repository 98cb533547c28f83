//! The papers' baseline: a capacity that somebody once configured.

use airpath_model::{CapacitySource, Rate, Timestamp};

use crate::report;

/// A capacity that never changes, whatever the link does.
#[derive(Clone, Copy, Debug)]
pub struct Configured {
    rate: Rate,
}

impl Configured {
    /// Always `rate`.
    pub const fn new(rate: Rate) -> Self {
        Self { rate }
    }
}

impl CapacitySource for Configured {
    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(self.rate.bytes_per_second())
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report::capacity(report, self.rate.bytes_per_second());
    }
}
