//! What a window-based algorithm decides: growth in congestion avoidance and the answer to a signal.

use core::fmt::Debug;

use airpath_model::{AckEvent, Bytes, CongestionEvent, Probe, SendEvent};

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
}
