//! Between the stack's instants, which belong to a clock, and ours, which are counted from the start of a run.

use airpath_model::{Duration, Timestamp};

/// The stack's instants.
#[expect(
    clippy::disallowed_types,
    reason = "the stack's interface has them; only differences between them count"
)]
pub(crate) type Instant = std::time::Instant;

/// Where counting begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(Instant);

impl Origin {
    /// Counts from an instant of the stack.
    pub(crate) const fn at(instant: Instant) -> Self {
        Self(instant)
    }

    /// Counts from any instant, where no clock runs.
    #[expect(
        clippy::disallowed_methods,
        reason = "instants cannot be made otherwise; only differences count"
    )]
    pub(crate) fn anywhere() -> Self {
        Self(Instant::now())
    }

    /// Ours.
    pub(crate) fn timestamp(self, instant: Instant) -> Timestamp {
        let since = instant.saturating_duration_since(self.0);
        Timestamp::ZERO + Duration::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The stack's.
    pub(crate) fn instant(self, timestamp: Timestamp) -> Instant {
        self.0 + std::time::Duration::from_nanos(timestamp.as_nanos())
    }
}
