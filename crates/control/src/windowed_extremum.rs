//! The largest or smallest of recent values, in constant space.

use core::cmp::Reverse;

/// The largest value of a sliding window of time, by Kathleen Nichols' algorithm (Linux, `lib/win_minmax.c`;
/// referenced by draft-ietf-ccwg-bbr, section 5.5.5). It stores three candidates; the second and third are
/// from the later parts of the window, so that one is available when the first expires.
///
/// The result is exact while the largest value is recent. Otherwise it may be lower, because up to a quarter
/// of the window is not represented. Time is any count that does not decrease, such as nanoseconds or rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMaximum<V> {
    /// Best, second, third: (time, value), in the order of time. `None` before the first value.
    candidates: Option<[(u64, V); 3]>,
}

impl<V> Default for WindowedMaximum<V> {
    fn default() -> Self {
        Self { candidates: None }
    }
}

impl<V: Copy + Ord> WindowedMaximum<V> {
    /// Adds a value and returns the largest of the last `window`.
    pub(crate) fn update(&mut self, window: u64, now: u64, value: V) -> V {
        let new = (now, value);
        let Some(candidates) = &mut self.candidates else { return self.restart(new) };
        let [best, second, third] = candidates;
        if value >= best.1 || now - third.0 > window {
            return self.restart(new);
        }
        if value >= second.1 {
            (*second, *third) = (new, new);
        } else if value >= third.1 {
            *third = new;
        }
        let age = now - best.0;
        if age > window {
            // The best has expired, and the second may have; a third that has expired is excluded above.
            (*best, *second, *third) = (*second, *third, new);
            if now - best.0 > window {
                (*best, *second, *third) = (*second, *third, new);
            }
        } else if second.0 == best.0 && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.0 == second.0 && age > window / 2 {
            *third = new;
        }
        best.1
    }

    /// Returns the largest value as of the last update.
    pub(crate) fn get(&self) -> Option<V> {
        self.candidates.map(|[best, ..]| best.1)
    }

    fn restart(&mut self, new: (u64, V)) -> V {
        self.candidates = Some([new; 3]);
        new.1
    }
}

/// The smallest value of a sliding window of time; see [`WindowedMaximum`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMinimum<V>(WindowedMaximum<Reverse<V>>);

impl<V> Default for WindowedMinimum<V> {
    fn default() -> Self {
        Self(WindowedMaximum::default())
    }
}

impl<V: Copy + Ord> WindowedMinimum<V> {
    /// Adds a value and returns the smallest of the last `window`.
    pub(crate) fn update(&mut self, window: u64, now: u64, value: V) -> V {
        self.0.update(window, now, Reverse(value)).0
    }

    /// Returns the smallest value as of the last update.
    pub(crate) fn get(&self) -> Option<V> {
        self.0.get().map(|value| value.0)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_expired_maximum_is_replaced_by_the_next_in_the_window() {
        let mut filter = WindowedMaximum::default();
        let largest: Vec<u32> = [9, 1, 7, 2, 3, 2, 2]
            .into_iter()
            .zip([0, 10, 40, 60, 90, 101, 141])
            .map(|(value, now)| filter.update(100, now, value))
            .collect();
        assert_eq!(largest, [9, 9, 9, 9, 9, 7, 3]);
    }

    #[test]
    fn after_a_pause_longer_than_the_window_only_the_new_value_counts() {
        let mut filter = WindowedMinimum::default();
        assert_eq!(filter.update(100, 0, 5), 5);
        assert_eq!(filter.update(100, 101, 8), 8);
        assert_eq!(filter.get(), Some(8));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// The result is between the newest value and the true maximum of the window, and never a value from
        /// outside it.
        #[test]
        fn the_result_is_a_value_in_the_window(steps in prop::collection::vec((0_u64..40, 0_u32..1000), 1..200)) {
            let (mut filter, mut now, mut seen) = (WindowedMaximum::default(), 0, Vec::new());
            for (step, value) in steps {
                now += step;
                seen.push((now, value));
                let found = filter.update(100, now, value);
                let recent = || seen.iter().filter(|&&(at, _)| now - at <= 100).map(|&(_, value)| value);
                prop_assert!(recent().any(|value| value == found));
                prop_assert!(found >= value);
            }
        }
    }
}
