//! What a QUIC stack gives a controller, and what it does not.

use airpath_model::Requirements;

/// A controller needs what the stack does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A rate of its own: quinn paces by the window, and asks nobody.
    #[error(
        "the controller sets the rate at which packets leave; quinn paces by its window, and by nothing else"
    )]
    Pacing,
    /// Feedback of routers: QUIC's packets have no place for it.
    #[error("the controller reads what routers write on packets; those of QUIC have no place for it")]
    PathFeedback,
    /// How much arrived marked: quinn tells of marks, and not of how many.
    #[error("the controller reads how much arrived marked; quinn says only that something did")]
    AccurateEcn,
    /// The receiver's clock: QUIC's acknowledgments do not carry it.
    #[error("the controller reads the receiver's clock, which QUIC's acknowledgments do not carry")]
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
