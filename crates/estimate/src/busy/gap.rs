//! Times between departures while packets wait.

use airpath_model::{Bytes, Duration, Timestamp};

use super::memory::Sent;
use super::polls::Reading;

/// Departures within this time are one group: a burst counts as one departure.
const GROUPING: Duration = Duration::from_millis(1);
/// Time of the initial estimate that is the initial mean group, in seconds.
const FIRST_GROUP_S: f64 = 0.05;
/// Smallest weight of a new group in the mean of the groups.
const GROUP_WEIGHT: f64 = 0.1;

/// Accumulates the bytes that departed while packets waited, and the time they took.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    open: Option<Gap>,
    /// Measurements of the current interval.
    sent: Sent,
    /// End of the last gap that was measured.
    ended: Timestamp,
    mean_group: f64,
    groups: u32,
    /// Size of the last packet, bytes.
    packet: f64,
}

/// The time since a departure after which packets waited, or since an arrival that has to wait.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: Timestamp,
    /// Bytes of the group at its start.
    pending: f64,
    /// Whether it began with a departure, so that its end is a measurement.
    is_measured: bool,
}

impl Gaps {
    /// Creates the state for a link with an initial estimate in byte/s.
    pub(super) const fn new(capacity: f64) -> Self {
        Self {
            open: None,
            sent: Sent::NONE,
            ended: Timestamp::ZERO,
            mean_group: FIRST_GROUP_S * capacity,
            groups: 0,
            packet: 0.0,
        }
    }

    /// Processes an arrival. If its packet departs at once, that departure closes the gap again.
    pub(super) fn on_arrival(&mut self, now: Timestamp) {
        if self.open.is_none() {
            self.open = Some(Gap { start: now, pending: 0.0, is_measured: false });
        }
    }

    /// Processes a departure; `left_waiting` states whether another packet waits.
    pub(super) fn on_departure(&mut self, now: Timestamp, size: Bytes, left_waiting: bool) {
        let size = size.as_f64();
        self.packet = size;
        let mut gap = self.open.take().filter(|gap| gap.is_measured).unwrap_or(Gap {
            start: now,
            pending: 0.0,
            is_measured: true,
        });
        let passed = now.since(gap.start);
        if passed >= GROUPING {
            self.count_gap(now, gap.pending, passed);
            gap = Gap { start: now, pending: 0.0, is_measured: true };
        }
        gap.pending += size;
        if left_waiting {
            self.open = Some(gap);
        } else {
            self.count_unused(gap.pending);
        }
    }

    /// Processes a reading of the counters. The time between two readings is a gap if packets waited throughout.
    ///
    /// Gaps begin and end with readings that saw departures: the error of a sum of gaps is at most the transmission
    /// time of a packet or an interval between readings, whichever is shorter.
    pub(super) fn on_reading(&mut self, now: Timestamp, reading: Reading) {
        let Reading { departed, was_empty, waits } = reading;
        let mut next = Gap { start: now, pending: 0.0, is_measured: !departed.is_zero() };
        match self.open.take().filter(|_| !was_empty) {
            Some(gap) if departed.is_zero() => next = gap,
            Some(gap) if gap.is_measured => {
                let (passed, bytes) = (now.since(gap.start), gap.pending + departed.as_f64());
                if passed < GROUPING {
                    next = Gap { pending: bytes, ..gap };
                } else {
                    self.count_gap(now, bytes, passed);
                }
            }
            Some(_) => {}
            None => self.count_unused(departed.as_f64()),
        }
        self.open = waits.then_some(next);
    }

    /// Returns the measurements since the last call; `None` if there are none.
    pub(super) fn take(&mut self) -> Option<Sent> {
        let sent = core::mem::replace(&mut self.sent, Sent::NONE);
        (sent.busy_s > 0.0).then_some(sent)
    }

    /// Returns the end of the last gap that was measured.
    pub(super) const fn ended(&self) -> Timestamp {
        self.ended
    }

    /// Returns what the link would have sent in the open gap if it ended now; `None` if it is not longer than
    /// `least`.
    pub(super) fn open_since(&self, now: Timestamp, least: Duration) -> Option<Sent> {
        let gap = self.open?;
        let passed = now.since(gap.start);
        let bytes = gap.pending.max(self.mean_group).max(self.packet);
        (passed > least).then(|| Sent { bytes, busy_s: passed.as_secs_f64() })
    }

    fn count_gap(&mut self, now: Timestamp, bytes: f64, passed: Duration) {
        self.ended = now;
        self.sent.bytes += bytes;
        self.sent.busy_s += passed.as_secs_f64();
        self.count_group(bytes);
    }

    /// Counts a group after which the queue was empty: the rest of the burst was not used, so its rate is unknown.
    fn count_unused(&mut self, bytes: f64) {
        if bytes > self.mean_group {
            self.count_group(bytes);
        }
    }

    fn count_group(&mut self, bytes: f64) {
        self.groups = self.groups.saturating_add(1);
        let weight = (1.0 / f64::from(self.groups)).max(GROUP_WEIGHT);
        self.mean_group += weight * (bytes - self.mean_group);
    }
}
