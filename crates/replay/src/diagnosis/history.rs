//! The recent values of a quantity, thinned.

use std::collections::VecDeque;

/// Maximum number of entries.
const MOST_ENTRIES: usize = 512;
/// Entries per smoothed round trip: the history covers four round trips.
const PER_ROUND_TRIP: u64 = 128;

/// The latest values of a quantity, with their times.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    entries: VecDeque<(u64, f32)>,
}

impl History {
    /// Adds a value. It replaces the last one if that is younger than a small part of the round trip: in a
    /// burst, the last packet experiences the longest queue.
    pub(super) fn push(&mut self, at_ns: u64, value: f32, round_trip_ns: u64) {
        if let Some((last_ns, last)) = self.entries.back_mut()
            && at_ns < last_ns.saturating_add(round_trip_ns / PER_ROUND_TRIP)
        {
            *last = value;
            return;
        }
        if self.entries.len() == MOST_ENTRIES {
            self.entries.pop_front();
        }
        self.entries.push_back((at_ns, value));
    }

    /// Returns the last value at or before `at_ns`, or the oldest one.
    pub(super) fn at(&self, at_ns: u64) -> Option<f32> {
        let after = self.entries.partition_point(|(time, _)| *time <= at_ns);
        self.entries.get(after.saturating_sub(1)).map(|(_, value)| *value)
    }

    /// Returns the median of the values from `from_ns` to `to_ns`.
    pub(super) fn median(&self, from_ns: u64, to_ns: u64) -> Option<f32> {
        let first = self.entries.partition_point(|(time, _)| *time < from_ns);
        let end = self.entries.partition_point(|(time, _)| *time <= to_ns);
        let mut values: Vec<f32> =
            self.entries.iter().take(end).skip(first).map(|(_, value)| *value).collect();
        values.sort_unstable_by(f32::total_cmp);
        values.get(values.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_entries_are_forgotten_and_close_ones_replaced() {
        let mut history = History::default();
        (0..10_000).for_each(|k| history.push(k, k as f32, 10 * PER_ROUND_TRIP));
        assert_eq!((history.at(95), history.at(9_999)), (Some(4_889.0), Some(9_999.0)));
        assert_eq!(history.median(9_000, 9_020), Some(9_019.0));
        assert_eq!(history.median(9_001, 9_009), None);
    }
}
