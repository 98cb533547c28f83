//! Conversion between quinn's instants, which belong to a clock, and timestamps, which count from the start
//! of a run.

use airpath_model::{Duration, Timestamp};

/// Quinn's type.
#[expect(
    clippy::disallowed_types,
    reason = "the stack's interface has them; only differences between them count"
)]
pub(crate) type Instant = std::time::Instant;

/// The instant at timestamp zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(Instant);

impl Origin {
    /// Creates an origin at an instant of quinn.
    pub(crate) const fn at(instant: Instant) -> Self {
        Self(instant)
    }

    /// Creates an origin at an arbitrary instant, for use without a running clock.
    #[expect(
        clippy::disallowed_methods,
        reason = "instants cannot be made otherwise; only differences count"
    )]
    pub(crate) fn anywhere() -> Self {
        Self(Instant::now())
    }

    /// Converts an instant to a timestamp.
    pub(crate) fn timestamp(self, instant: Instant) -> Timestamp {
        let since = instant.saturating_duration_since(self.0);
        Timestamp::ZERO + Duration::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Converts a timestamp to an instant.
    pub(crate) fn instant(self, timestamp: Timestamp) -> Instant {
        self.0 + std::time::Duration::from_nanos(timestamp.as_nanos())
    }
}
