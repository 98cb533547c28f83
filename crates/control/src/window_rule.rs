//! What a window-based algorithm decides: growth in congestion avoidance and the answer to a signal.

use core::fmt::Debug;

use airpath_model::{AckEvent, Bytes, CongestionEvent, Probe, Requirements, SendEvent};

/// The rule by which the window moves outside slow start. [`crate::Windowed`] holds one and does what all
/// algorithms share: slow start, the floors, the timeout's window, undo.
///
/// Undo works by value: a copy of the rule is taken before each signal and put back when the signal proves false.
pub trait WindowRule: Clone + Debug + Send {
    /// A data packet leaves, in any phase.
    fn on_sent(&mut self, _event: &SendEvent) {}

    /// An acknowledgment arrived, in any phase, while the window was `window`, before it moves. Estimators feed here.
    fn on_ack(&mut self, _window: Bytes, _event: &AckEvent, _probe: &mut dyn Probe) {}

    /// The window after this acknowledgment in congestion avoidance. Asked only when the acknowledgment covers
    /// new data, the window was used, and no recovery is under way.
    fn congestion_avoidance(&mut self, window: Bytes, event: &AckEvent) -> Bytes;

    /// The new slow-start threshold after a signal; the caller raises it to two segments where it is less
    /// (RFC 5681, equation 4). Not asked at repeated timeouts of the same data.
    fn reduce(&mut self, window: Bytes, event: &CongestionEvent, probe: &mut dyn Probe) -> Bytes;

    /// The window right after a loss or a CE echo that [`WindowRule::reduce`] answered with `ssthresh`.
    fn window_after_loss(&self, window: Bytes, ssthresh: Bytes) -> Bytes {
        // More may be in flight than the window allows, and the floor may lie above the window: a signal must not
        // enlarge it.
        window.min(ssthresh)
    }

    /// Window and threshold to go on with when the acknowledgment ended a recovery that began at `window`; `None`
    /// leaves them. The caller raises them to two segments.
    fn window_after_recovery(&self, _window: Bytes, _event: &AckEvent) -> Option<Bytes> {
        None
    }

    /// What the driver must deliver.
    fn requirements(&self) -> Requirements {
        Requirements::default()
    }
}
