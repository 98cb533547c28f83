//! When a timestamp was first and last on the wire.

use std::collections::VecDeque;

use airpath_model::{Duration, Timestamp};

/// The timestamps that one host sent, until they are answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    sent: VecDeque<Stamp>,
}

#[derive(Clone, Copy, Debug)]
struct Stamp {
    value: u32,
    first: Timestamp,
    last: Timestamp,
    answered: bool,
}

/// Stamps that wait for an answer; older ones are forgotten.
const MOST_STAMPS: usize = 4096;

impl Stamps {
    /// A packet with this timestamp passes.
    pub(crate) fn on_packet(&mut self, now: Timestamp, value: u32) {
        if let Some(newest) = self.sent.back_mut() {
            if newest.value == value {
                newest.last = now;
                return;
            }
            if (value.wrapping_sub(newest.value) as i32) < 0 {
                return; // sent before the newest one, and arrives late
            }
        }
        if self.sent.len() == MOST_STAMPS {
            self.sent.pop_front();
        }
        self.sent.push_back(Stamp { value, first: now, last: now, answered: false });
    }

    /// The other host echoes a timestamp: how long it took since it was first seen, at its first echo only; and when it
    /// was last seen.
    pub(crate) fn on_echo(&mut self, now: Timestamp, echo: u32) -> (Option<Duration>, Option<Timestamp>) {
        while self.sent.front().is_some_and(|stamp| (stamp.value.wrapping_sub(echo) as i32) < 0) {
            self.sent.pop_front();
        }
        match self.sent.front_mut().filter(|stamp| stamp.value == echo) {
            Some(stamp) => {
                let first_answer = !std::mem::replace(&mut stamp.answered, true);
                (first_answer.then(|| now.since(stamp.first)), Some(stamp.last))
            }
            None => (None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn only_the_first_echo_of_the_first_sight_is_timed() {
        let mut stamps = Stamps::default();
        for (ms, value) in [(0, 5), (1, 5), (2, 6), (3, 4)] {
            stamps.on_packet(at(ms), value);
        }
        assert_eq!(stamps.on_echo(at(10), 5), (Some(Duration::from_millis(10)), Some(at(1))));
        assert_eq!(stamps.on_echo(at(11), 5), (None, Some(at(1))));
        assert_eq!(stamps.on_echo(at(12), 6), (Some(Duration::from_millis(10)), Some(at(2))));
        assert_eq!(stamps.on_echo(at(12), 5), (None, None), "forgotten");
    }
}
