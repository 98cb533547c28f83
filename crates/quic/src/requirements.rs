//! The features that a QUIC stack provides to controllers, and those that it does not.

use airpath_model::Requirements;

/// A controller needs a feature that the stack does not provide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A separate pacing rate: quinn derives pacing from the window.
    #[error("the controller sets a pacing rate, but quinn paces by its window only")]
    Pacing,
    /// Feedback of routers: QUIC's packets have no field for it.
    #[error("the controller needs a header that routers write, which QUIC packets do not carry")]
    PathFeedback,
    /// The number of marked packets: quinn reports that packets were marked, but not how many.
    #[error("the controller needs the number of marked bytes, but quinn reports only that a mark arrived")]
    AccurateEcn,
    /// The receiver's clock: QUIC's acknowledgments do not contain it.
    #[error("the controller needs the receiver's clock, which QUIC acknowledgments do not carry")]
    ReceiverTime,
}

/// Refuses features that the stack does not provide.
///
/// # Errors
/// The first such feature.
pub(crate) fn check(needs: &Requirements) -> Result<(), Unsupported> {
    let Requirements { pacing, path_feedback, receiver_time, accurate_ecn, .. } = *needs;
    // The stack provides delivery-rate samples, marks, and a constant window during loss recovery.
    let lacking = [
        (path_feedback, Unsupported::PathFeedback),
        (receiver_time, Unsupported::ReceiverTime),
        (accurate_ecn, Unsupported::AccurateEcn),
        (pacing, Unsupported::Pacing),
    ];
    lacking.into_iter().find(|(needed, _)| *needed).map_or(Ok(()), |(_, lack)| Err(lack))
}
