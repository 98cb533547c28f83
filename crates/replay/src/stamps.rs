//! Transmission times of TCP timestamps.

use std::collections::VecDeque;

use airpath_model::{Duration, Timestamp};

/// The timestamps sent by one host and not yet echoed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    sent: VecDeque<Stamp>,
}

#[derive(Clone, Copy, Debug)]
struct Stamp {
    value: u32,
    first: Timestamp,
    answered: bool,
}

/// Maximum number of timestamps that wait for an echo; older ones are dropped.
const MOST_STAMPS: usize = 4096;

impl Stamps {
    /// Records a packet with this timestamp.
    pub(crate) fn on_packet(&mut self, now: Timestamp, value: u32) {
        // A packet sent before the newest one has been delayed.
        if self.sent.back().is_some_and(|newest| (value.wrapping_sub(newest.value) as i32) <= 0) {
            return;
        }
        if self.sent.len() == MOST_STAMPS {
            self.sent.pop_front();
        }
        self.sent.push_back(Stamp { value, first: now, answered: false });
    }

    /// Records that the other host echoes a timestamp. Returns the time since the timestamp was first seen,
    /// at its first echo only.
    pub(crate) fn on_echo(&mut self, now: Timestamp, echo: u32) -> Option<Duration> {
        while self.sent.front().is_some_and(|stamp| (stamp.value.wrapping_sub(echo) as i32) < 0) {
            self.sent.pop_front();
        }
        let stamp = self.sent.front_mut().filter(|stamp| stamp.value == echo)?;
        let first_answer = !std::mem::replace(&mut stamp.answered, true);
        first_answer.then(|| now.since(stamp.first))
    }
}

/// The transmission time of each segment with its timestamp, until a newer one is echoed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transmissions {
    sent: VecDeque<Transmission>,
}

#[derive(Clone, Copy, Debug)]
struct Transmission {
    value: u32,
    offset: i64,
    at: Timestamp,
}

/// Maximum number of transmissions that wait for an echo; older ones are dropped.
const MOST_TRANSMISSIONS: usize = 1 << 14;

impl Transmissions {
    /// Records a segment that begins at `offset`, with this timestamp.
    pub(crate) fn on_packet(&mut self, at: Timestamp, value: u32, offset: i64) {
        if self.sent.back().is_some_and(|newest| (value.wrapping_sub(newest.value) as i32) < 0) {
            return; // sent before the newest one, and delayed
        }
        if self.sent.len() == MOST_TRANSMISSIONS {
            self.sent.pop_front();
        }
        self.sent.push_back(Transmission { value, offset, at });
    }

    /// Returns the transmission time of the segment whose timestamp is echoed. A receiver echoes the
    /// timestamp of a segment that begins at the end of its last acknowledgment, or before (RFC 7323, section
    /// 4.3), which distinguishes transmissions within one tick.
    pub(crate) fn sent_at(&mut self, echo: u32, acknowledged: i64) -> Option<Timestamp> {
        while self.sent.front().is_some_and(|sent| (sent.value.wrapping_sub(echo) as i32) < 0) {
            self.sent.pop_front();
        }
        let same = || self.sent.iter().take_while(|sent| sent.value == echo);
        same().filter(|sent| sent.offset <= acknowledged).last().or_else(|| same().last()).map(|sent| sent.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn only_the_first_echo_of_a_first_transmission_is_timed() {
        let mut stamps = Stamps::default();
        for (ms, value) in [(0, 5), (1, 5), (2, 6), (3, 4)] {
            stamps.on_packet(at(ms), value);
        }
        assert_eq!(stamps.on_echo(at(10), 5), Some(Duration::from_millis(10)));
        assert_eq!(stamps.on_echo(at(11), 5), None);
        assert_eq!(stamps.on_echo(at(12), 6), Some(Duration::from_millis(10)));
        assert_eq!(stamps.on_echo(at(12), 5), None, "forgotten");
    }

    #[test]
    fn segments_of_one_tick_are_matched_by_the_last_acknowledgment() {
        let mut sent = Transmissions::default();
        // The retransmission of 0 and new data were sent within one tick; the late packet was sent before.
        for (ms, value, offset) in [(0, 5, 9000), (1, 6, 0), (2, 6, 10_000), (3, 5, 500)] {
            sent.on_packet(at(ms), value, offset);
        }
        assert_eq!(sent.sent_at(6, 0), Some(at(1)));
        assert_eq!(sent.sent_at(6, 10_000), Some(at(2)));
        assert_eq!(sent.sent_at(6, -1), Some(at(2)), "an unknown offset");
        assert_eq!(sent.sent_at(5, 9000), None, "forgotten");
    }
}
