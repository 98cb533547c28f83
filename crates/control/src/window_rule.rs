//! The decisions of a window-based algorithm: growth in congestion avoidance and the response to a signal.

use core::fmt::Debug;

use airpath_model::{AckEvent, Bytes, CongestionEvent, Probe, Requirements, SendEvent};

/// The rule for the window outside slow start. [`crate::Windowed`] owns one and implements the parts that all
/// algorithms share: slow start, the floors, the window after a timeout, and undo.
///
/// Undo works by value: the caller copies the rule before each signal and restores the copy if the signal
/// proves spurious.
pub trait WindowRule: Clone + Debug + Send {
    /// Processes the departure of a data packet, in any phase.
    fn on_sent(&mut self, _event: &SendEvent) {}

    /// Processes an acknowledgment, in any phase. `window` is the window before it changes. Estimators are
    /// updated here.
    fn on_ack(&mut self, _window: Bytes, _event: &AckEvent, _probe: &mut dyn Probe) {}

    /// Returns the window with which congestion avoidance begins, if this acknowledgment shows that slow
    /// start should end. Called in slow start, after the growth, under the conditions of
    /// [`WindowRule::congestion_avoidance`].
    fn end_slow_start(&mut self, _window: Bytes, _event: &AckEvent) -> Option<Bytes> {
        None
    }

    /// Returns the window after this acknowledgment in congestion avoidance. It may be smaller than before:
    /// the slow-start threshold then decreases to it, so that congestion avoidance continues. Called only if
    /// the acknowledgment covers new data, the window was used, and no recovery is in progress.
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes;

    /// Returns the new slow-start threshold after a signal. The caller raises it to at least two segments
    /// (RFC 5681, equation 4). Not called at repeated timeouts of the same data.
    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes;

    /// Returns the window right after a loss or a CE echo for which [`WindowRule::reduce`] returned
    /// `ssthresh`.
    fn window_after_loss(&self, window: Bytes, ssthresh: Bytes) -> Bytes {
        // More may be in flight than the window allows, and the floor may be above the window: a signal must
        // not enlarge it.
        window.min(ssthresh)
    }

    /// Returns the window and threshold after an acknowledgment that ended a recovery that began at `window`,
    /// or `None` to keep them. The caller raises them to at least two segments.
    fn window_after_recovery(&self, _window: Bytes, _event: &AckEvent) -> Option<Bytes> {
        None
    }

    /// Returns the features that the driver must supply.
    fn requirements(&self) -> Requirements {
        Requirements::default()
    }
}
