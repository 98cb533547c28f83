//! A set of disjoint ranges of stream offsets.

use alloc::collections::VecDeque;

/// Disjoint, non-adjacent ranges [left, right) in ascending order. Its size is the number of holes in a
/// window, and most changes happen at its ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: VecDeque<(u64, u64)>,
    /// The approximate index of the last change: holes are filled in order, so the next change is nearby.
    near: usize,
}

/// The number of steps from the last change before a search over all ranges.
const STEPS: usize = 4;

impl Ranges {
    /// Adds the non-empty range [`left`, `right`), and calls `added` for each new part in ascending order.
    /// Returns the range that contains it afterwards.
    pub(crate) fn insert(&mut self, left: u64, right: u64, mut added: impl FnMut(u64, u64)) -> (u64, u64) {
        debug_assert!(left < right);
        // Most insertions are at the upper end.
        let count = self.ranges.len();
        match self.ranges.back_mut() {
            Some(last) if last.1 < left => {}
            Some(last) if last.0 <= left => {
                self.near = count - 1;
                if last.1 < right {
                    added(last.1, right);
                    last.1 = right;
                }
                return *last;
            }
            Some(_) => return self.insert_below(left, right, added),
            None => {}
        }
        self.near = count;
        added(left, right);
        self.ranges.push_back((left, right));
        (left, right)
    }

    /// Inserts a range if the last range begins above `left`.
    fn insert_below(&mut self, left: u64, right: u64, mut added: impl FnMut(u64, u64)) -> (u64, u64) {
        // All ranges from `first` to `last` touch the new range.
        let first = self.first_reaching(left);
        self.near = first;
        let mut last = first;
        let mut gap = left;
        while let Some(&(known_left, known_right)) = self.ranges.get(last).filter(|range| range.0 <= right) {
            if gap < known_left {
                added(gap, known_left);
            }
            gap = gap.max(known_right);
            last += 1;
        }
        if gap < right {
            added(gap, right);
        }
        if first == last {
            self.ranges.insert(first, (left, right));
            return (left, right);
        }
        let merged = (self.ranges[first].0.min(left), gap.max(right));
        self.ranges[first] = merged;
        match last - first {
            1 => {}
            2 => drop(self.ranges.remove(first + 1)),
            _ => drop(self.ranges.drain(first + 1..last)),
        }
        merged
    }

    /// Removes all offsets below `offset`.
    pub(crate) fn remove_below(&mut self, offset: u64) {
        if self.ranges.front().is_none_or(|first| offset <= first.0) {
            return;
        }
        while self.ranges.front().is_some_and(|first| first.1 <= offset) {
            self.ranges.pop_front();
            self.near = self.near.saturating_sub(1);
        }
        if let Some(first) = self.ranges.front_mut() {
            first.0 = first.0.max(offset);
        }
    }

    /// Returns the range that contains `offset`.
    pub(crate) fn containing(&self, offset: u64) -> Option<(u64, u64)> {
        let (&first, &last) = (self.ranges.front()?, self.ranges.back()?);
        if offset < first.0 {
            return None;
        }
        if offset >= last.0 {
            return (offset < last.1).then_some(last);
        }
        let index = self.first_reaching(offset.saturating_add(1));
        self.ranges.get(index).copied().filter(|range| range.0 <= offset)
    }

    /// Iterates over all ranges in ascending order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.ranges.iter().copied()
    }

    /// Returns whether there are no ranges.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the index of the first range that ends at `offset` or above.
    fn first_reaching(&self, offset: u64) -> usize {
        let ends_below = |index: usize| self.ranges.get(index).is_some_and(|range| range.1 < offset);
        let mut index = self.near.min(self.ranges.len());
        for _ in 0..STEPS {
            if ends_below(index) {
                index += 1;
            } else if index > 0 && !ends_below(index - 1) {
                index -= 1;
            } else {
                return index;
            }
        }
        self.ranges.partition_point(|range| range.1 < offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a set of single offsets: ranges are inserted, and occasionally all below some offset
        /// are removed.
        #[test]
        fn agrees_with_a_plain_set(
            steps in prop::collection::vec((0_u64..60, 1_u64..10, prop::option::weighted(0.2, 0_u64..60)), 0..60),
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (left, length, cut) in steps {
                let mut reported = BTreeSet::new();
                let holds_it = ranges.insert(left, left + length, |from, to| reported.extend(from..to));
                prop_assert_eq!(Some(holds_it), ranges.containing(left));
                let fresh: BTreeSet<u64> = (left..left + length).filter(|offset| set.insert(*offset)).collect();
                prop_assert_eq!(reported, fresh);
                if let Some(cut) = cut {
                    ranges.remove_below(cut);
                    set.retain(|offset| *offset >= cut);
                }
                prop_assert!(ranges.iter().zip(ranges.iter().skip(1)).all(|(one, next)| one.1 < next.0));
                let kept: BTreeSet<u64> = ranges.iter().flat_map(|(from, to)| from..to).collect();
                prop_assert_eq!(&kept, &set);
                for offset in 0..70 {
                    let found = ranges.containing(offset);
                    prop_assert_eq!(found.is_some(), set.contains(&offset));
                    prop_assert!(found.is_none_or(|(from, to)| (from..to).contains(&offset)));
                }
            }
        }
    }
}
