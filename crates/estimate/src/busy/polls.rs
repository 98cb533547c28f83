//! Departures that are known from counters only.

use airpath_model::{Bytes, Duration, Timestamp};

/// The departures since the last reading of the counters.
#[derive(Clone, Debug)]
pub(super) struct Polls {
    interval: Duration,
    due: Timestamp,
    departed: Bytes,
    was_empty: bool,
    /// Size of the last packet.
    packet: Bytes,
}

/// The state of the queue at a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    /// Bytes that departed since the previous reading.
    pub(super) departed: Bytes,
    /// Whether the queue was empty at some time since then.
    pub(super) was_empty: bool,
    /// Whether a packet waits.
    pub(super) waits: bool,
}

impl Polls {
    /// Creates the state of an idle link.
    pub(super) fn new(interval: Duration) -> Self {
        let due = Timestamp::ZERO + interval;
        Self { interval, due, departed: Bytes::ZERO, was_empty: true, packet: Bytes::ZERO }
    }

    /// Returns the time of the next reading.
    pub(super) const fn due(&self) -> Timestamp {
        self.due
    }

    /// Counts departures; `left_waiting` states whether packets waited all the time up to now.
    ///
    /// A queue that a departure leaves empty is found empty by the next arrival or by the reading. A router that
    /// sees arrivals and readings only therefore knows the same.
    pub(super) fn on_departure(&mut self, size: Bytes, left_waiting: bool) {
        self.departed += size;
        self.was_empty |= !left_waiting;
        // A driver also reports intervals without departures.
        if !size.is_zero() {
            self.packet = size;
        }
    }

    /// Returns the largest error of the time of a departure on a link of `capacity` byte/s, in seconds.
    pub(super) fn resolution_s(&self, capacity: f64) -> f64 {
        self.interval.as_secs_f64().min(self.packet.as_f64() / capacity)
    }

    /// Reads the counters at `now`. A late reading has a longer interval.
    pub(super) fn read(&mut self, now: Timestamp, waits: bool) -> Reading {
        let reading = Reading { departed: self.departed, was_empty: self.was_empty || !waits, waits };
        *self = Self { due: now + self.interval, departed: Bytes::ZERO, was_empty: !waits, ..*self };
        reading
    }
}
