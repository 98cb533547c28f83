//! What a QUIC stack gives a controller, and what it does not.

use airpath_model::Requirements;

/// A controller needs what the stack does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A rate of its own: quinn paces by the window, and asks nobody.
    #[error("the controller sets a pacing rate, but quinn paces by its window only")]
    Pacing,
    /// Feedback of routers: QUIC's packets have no place for it.
    #[error("the controller needs a header that routers write, which QUIC packets do not carry")]
    PathFeedback,
    /// How much arrived marked: quinn tells of marks, and not of how many.
    #[error("the controller needs the number of marked bytes, but quinn reports only that a mark arrived")]
    AccurateEcn,
    /// The receiver's clock: QUIC's acknowledgments do not carry it.
    #[error("the controller needs the receiver's clock, which QUIC acknowledgments do not carry")]
    ReceiverTime,
}

/// Refuses what the stack does not give.
///
/// # Errors
/// The first such need.
pub(crate) fn check(needs: &Requirements) -> Result<(), Unsupported> {
    let Requirements { pacing, path_feedback, receiver_time, accurate_ecn, .. } = *needs;
    // Delivery-rate samples, marks, and a window that holds while losses are repaired it has.
    let lacking = [
        (path_feedback, Unsupported::PathFeedback),
        (receiver_time, Unsupported::ReceiverTime),
        (accurate_ecn, Unsupported::AccurateEcn),
        (pacing, Unsupported::Pacing),
    ];
    lacking.into_iter().find(|(needed, _)| *needed).map_or(Ok(()), |(_, lack)| Err(lack))
}
