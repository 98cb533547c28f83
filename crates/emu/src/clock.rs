//! The clock of an emulation.

use std::time::Instant;

use airpath_model::{Duration, Timestamp};

/// Tells the time since an emulation began. Copies tell the same.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
}

impl Clock {
    /// A clock that begins now. It is steady: setting the system's time does not move it.
    pub(crate) fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// The time since the emulation began.
    pub fn now(&self) -> Timestamp {
        Timestamp::ZERO + Duration::from_nanos(self.began.elapsed().as_nanos() as u64) // 584 years
    }
}
