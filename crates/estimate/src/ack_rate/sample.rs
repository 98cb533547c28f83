//! Samples of bandwidth.

use airpath_model::{Bytes, Duration};

/// One sample of bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Data over time, byte/s.
    pub bandwidth: f64,
    /// The time that it stands for: Δ of the filters.
    pub interval: Duration,
}

impl Sample {
    /// `amount` delivered in `interval`, which is longer than nothing.
    pub(crate) fn new(amount: Bytes, interval: Duration) -> Self {
        Self { bandwidth: amount.as_f64() / interval.as_secs_f64(), interval }
    }
}
