//! The door to estimators of a window's ceiling, as senders use them.

use core::fmt::Debug;

use crate::{RttEstimate, Timestamp};

/// What a sender believes to be the largest window that its path can carry: `W_max` of CUBIC.
///
/// The estimator is told of acknowledgments and of losses, in time order; the window rule that holds it asks for the
/// ceiling and grows towards it. It keeps its timers by the times that it is told, so that it needs none of the driver's.
/// Windows are segments.
///
/// Undo works by value, as with window rules: a copy is taken before each signal and put back when it proves false.
pub trait WindowCeilingEstimator: Clone + Debug + Send {
    /// An acknowledgment arrived while the window was `window`; `rtt` includes its sample. Says whether an estimation
    /// interval ended, that is, whether [`WindowCeilingEstimator::ceiling`] or [`WindowCeilingEstimator::probing`] may
    /// answer otherwise than before.
    fn on_ack(&mut self, now: Timestamp, window: f64, rtt: &RttEstimate) -> bool;

    /// A loss or a mark; the window rule took `w_max` > 0 for the ceiling.
    fn on_loss(&mut self, now: Timestamp, w_max: f64, rtt: &RttEstimate);

    /// The estimate, finite and not negative; `None` before the first loss.
    fn ceiling(&self) -> Option<f64>;

    /// How strongly the window rule shall probe beyond the ceiling: Υ of EBE's maintainer while it is on, else 1.
    fn probing(&self) -> f64 {
        1.0
    }

    /// Reports quantities by name for the time series, in the units that the estimator's page states.
    fn observe(&self, _report: &mut dyn FnMut(&'static str, f64)) {}
}
