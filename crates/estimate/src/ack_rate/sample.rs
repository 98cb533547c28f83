//! Samples of bandwidth.

use airpath_model::{Bytes, Duration};

/// One sample of bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Data divided by time, byte/s.
    pub bandwidth: f64,
    /// The time that the sample covers: Δ of the filters.
    pub interval: Duration,
}

impl Sample {
    /// Creates a sample of `amount` delivered in `interval`, which is greater than zero.
    pub(crate) fn new(amount: Bytes, interval: Duration) -> Self {
        Self { bandwidth: amount.as_f64() / interval.as_secs_f64(), interval }
    }
}
