//! ACK-rate estimators that are not part of this crate.

use alloc::boxed::Box;

use airpath_model::AckRateEstimator;

/// An ACK-rate estimator of another crate, as a part of [`AckRate`](super::AckRate).
pub trait OutsideEstimator: AckRateEstimator + Sync {
    /// Returns a copy. A controller restores the copy if a congestion signal was spurious.
    fn copied(&self) -> Box<dyn OutsideEstimator>;
}

impl Clone for Box<dyn OutsideEstimator> {
    fn clone(&self) -> Self {
        (**self).copied()
    }
}
