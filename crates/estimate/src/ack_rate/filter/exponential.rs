//! First-order low-pass filters with one coefficient.

use airpath_model::Duration;

use super::start::Start;
use crate::ack_rate::sample::Sample;

/// GM eq. 2.
#[derive(Clone, Debug)]
pub(super) struct ZeroOrderHold {
    tau: f64,
    start: Start,
    output: Option<f64>,
}

impl ZeroOrderHold {
    pub(super) fn new(tau: Duration, start: Start) -> Self {
        Self { tau: tau.as_secs_f64(), start, output: None }
    }

    pub(super) fn update(&mut self, sample: Sample) -> f64 {
        let before = self.output.unwrap_or_else(|| self.start.before(sample.bandwidth));
        let gain = -libm::expm1(-sample.interval.as_secs_f64() / self.tau);
        *self.output.insert(before + gain * (sample.bandwidth - before))
    }
}

/// GM eq. 3.
#[derive(Clone, Debug)]
pub(super) struct TimeInvariant {
    alpha: f64,
    start: Start,
    output: Option<f64>,
}

impl TimeInvariant {
    pub(super) fn new(alpha: f64, start: Start) -> Self {
        Self { alpha, start, output: None }
    }

    pub(super) fn update(&mut self, sample: Sample) -> f64 {
        let before = self.output.unwrap_or_else(|| self.start.before(sample.bandwidth));
        *self.output.insert(keep(self.alpha, before, sample.bandwidth))
    }
}

/// Returns the weighted mean: `part` of the old value and 1 − `part` of the new one.
pub(super) fn keep(part: f64, old: f64, new: f64) -> f64 {
    part * old + (1.0 - part) * new
}
