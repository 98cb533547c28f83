//! The time for which each limit kept a sender from sending.

use airpath_model::{Duration, Timestamp};
use airpath_transport::SendLimit;

/// The time of a sender under each limit. The state of a sender changes only at its events, so the time since
/// the previous event belongs to one limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LimitMeter {
    since: Timestamp,
    times: [Duration; SendLimit::COUNT],
}

impl LimitMeter {
    /// Records that the sender has been under `limit` until `now`; `None` while the flow is not active.
    pub(crate) fn advance(&mut self, now: Timestamp, limit: Option<SendLimit>) {
        let elapsed = now.since(self.since);
        self.since = now;
        if let Some(limit) = limit {
            self.times[limit.index()] += elapsed;
        }
    }

    /// Returns the time under each limit since the last call.
    pub(crate) fn take(&mut self) -> [Duration; SendLimit::COUNT] {
        std::mem::take(&mut self.times)
    }
}
