//! The windows with which past packets left.

use airpath_model::Timestamp;

use super::EPOCH;

/// Number of epochs that are recorded.
const LENGTH: usize = 1024;

/// The windows of the last epochs, in whole segments.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// Time and window of the latest change in each epoch.
    changes: [(Timestamp, u32); LENGTH],
}

impl Default for History {
    fn default() -> Self {
        Self { changes: [(Timestamp::NEVER, 0); LENGTH] }
    }
}

impl History {
    /// Records the window from `now` on.
    pub(super) fn record(&mut self, now: Timestamp, window: u32) {
        self.changes[slot(epoch(now))] = (now, window);
    }

    /// Returns the window at `time`, if it is recorded.
    pub(super) fn get(&self, time: Timestamp) -> Option<u32> {
        let current = epoch(time);
        // A change later in the same epoch replaces the one that was in force.
        let entries = [current, current.saturating_sub(1)].map(|epoch| self.changes[slot(epoch)]);
        let is_recent = |&&(at, _): &&(Timestamp, u32)| at <= time && epoch(at) + 1 >= current;
        entries.iter().find(is_recent).map(|&(_, window)| window)
    }
}

fn epoch(time: Timestamp) -> u64 {
    time.as_nanos() / EPOCH.as_nanos()
}

fn slot(epoch: u64) -> usize {
    (epoch % LENGTH as u64) as usize
}

#[cfg(test)]
mod tests {
    use airpath_model::Duration;

    use super::*;

    #[test]
    fn a_window_is_found_by_the_time_at_which_the_packet_left() {
        let at = |ms| Timestamp::ZERO + Duration::from_millis(ms);
        let mut history = History::default();
        for (ms, window) in [(2, 10), (7, 12), (12, 15), (13, 16)] {
            history.record(at(ms), window);
        }
        let found = [1, 2, 6, 7, 11, 12, 14, 16, 21].map(|ms| history.get(at(ms)));
        let expected = [None, Some(10), Some(10), Some(12), Some(12), Some(12), Some(16), Some(16), None];
        assert_eq!(found, expected);
        history.record(at(5 * 1024 + 6), 19);
        history.record(at(5 * 1024 + 11), 20);
        assert_eq!(history.get(at(14)), None, "1024 epochs later");
        assert_eq!(history.get(at(5 * 1024 + 14)), Some(20));
    }
}
