//! The interface of estimators of a window's ceiling, used by senders.

use core::fmt::Debug;

use crate::{RttEstimate, Timestamp};

/// A sender-side estimator of the largest window that a path can carry: `W_max` of CUBIC.
///
/// The window rule that owns the estimator reports acknowledgments and losses in time order, reads the
/// ceiling, and grows towards it. The estimator derives its timers from the reported times, so it needs no
/// timer of the driver. Windows are in segments.
///
/// Undo works by value, as for window rules: the caller copies the estimator before each signal and restores
/// the copy if the signal proves spurious.
pub trait WindowCeilingEstimator: Clone + Debug + Send {
    /// Processes an acknowledgment that arrived at the given `window`; `rtt` includes its sample. Returns
    /// whether an estimation interval ended, that is, whether the results of
    /// [`WindowCeilingEstimator::ceiling`] or [`WindowCeilingEstimator::probing`] may have changed.
    fn on_ack(&mut self, now: Timestamp, window: f64, rtt: &RttEstimate) -> bool;

    /// Processes a loss or a mark, after which the window rule uses `w_max` > 0 as the ceiling.
    fn on_loss(&mut self, now: Timestamp, w_max: f64, rtt: &RttEstimate);

    /// Returns the estimate, finite and not negative, or `None` before the first loss.
    fn ceiling(&self) -> Option<f64>;

    /// Returns the factor by which the window rule probes beyond the ceiling: Υ of EBE's maintainer while it
    /// is active, else 1.
    fn probing(&self) -> f64 {
        1.0
    }

    /// Reports quantities by name for the time series, in the units stated on the page of the estimator.
    fn observe(&self, _report: &mut dyn FnMut(&'static str, f64)) {}
}
