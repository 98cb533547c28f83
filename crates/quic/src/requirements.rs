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
    /// The receiver's clock: QUIC's acknowledgments do not carry it.
    #[error("the controller reads the receiver's clock, which QUIC's acknowledgments do not carry")]
    ReceiverTime,
}

/// Refuses what the stack does not give.
///
/// # Errors
/// The first such need.
pub(crate) fn check(needs: &Requirements) -> Result<(), Unsupported> {
    let Requirements { pacing, path_feedback, receiver_time, .. } = *needs;
    // Delivery-rate samples, marks, and a window that holds while losses are repaired it has.
    match (path_feedback, receiver_time, pacing) {
        (true, ..) => Err(Unsupported::PathFeedback),
        (_, true, _) => Err(Unsupported::ReceiverTime),
        (.., true) => Err(Unsupported::Pacing),
        _ => Ok(()),
    }
}
