//! Samples of one window, and their quantiles.

/// Maximum number of samples of a window. Beyond it only every second one is kept, then every fourth.
const MOST_SAMPLES: usize = 1024;

/// A bounded buffer of the samples of one window.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    values: Vec<f32>,
    stride: u32,
    skip: u32,
    count: u32,
}

impl Default for Samples {
    fn default() -> Self {
        Self { values: Vec::new(), stride: 1, skip: 0, count: 0 }
    }
}

impl Samples {
    pub(super) fn push(&mut self, value: f32) {
        self.count = self.count.saturating_add(1);
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.values.len() == MOST_SAMPLES {
            let mut number = 0_usize;
            self.values.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.values.push(value);
        self.skip = self.stride - 1;
    }

    /// Returns the quantiles and empties the buffer.
    pub(super) fn take<const N: usize>(&mut self) -> Quantiles<N> {
        self.values.sort_unstable_by(f32::total_cmp);
        let mut quantiles = Quantiles { count: self.count, at: [0.0; N] };
        if let Some(last) = self.values.len().checked_sub(1) {
            for (number, at) in quantiles.at.iter_mut().enumerate() {
                let place = number as f32 / (N - 1) as f32 * last as f32;
                let (below, part) = (place as usize, place.fract());
                let above = self.values[(below + 1).min(last)];
                *at = self.values[below] + part * (above - self.values[below]);
            }
        }
        self.values.clear();
        (self.stride, self.skip, self.count) = (1, 0, 0);
        quantiles
    }
}

/// A distribution given by `N` equally spaced quantiles, from the smallest value to the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantiles<const N: usize> {
    count: u32,
    at: [f32; N],
}

impl<const N: usize> Default for Quantiles<N> {
    fn default() -> Self {
        Self { count: 0, at: [0.0; N] }
    }
}

impl<const N: usize> Quantiles<N> {
    /// Returns the number of samples.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the quantile of `share`, 0 to 1; `None` without samples.
    pub(super) fn quantile(&self, share: f32) -> Option<f32> {
        if self.count == 0 {
            return None;
        }
        let place = share.clamp(0.0, 1.0) * (N - 1) as f32;
        let below = place as usize;
        let above = self.at[(below + 1).min(N - 1)];
        Some(self.at[below] + place.fract() * (above - self.at[below]))
    }

    /// Returns the share of samples above `bound`.
    pub(super) fn share_above(&self, bound: f32) -> f32 {
        let above = self.at.partition_point(|value| *value <= bound);
        if self.count == 0 || above == N {
            return 0.0;
        }
        if above == 0 {
            return 1.0;
        }
        let (low, high) = (self.at[above - 1], self.at[above]);
        let place = (above - 1) as f32 + (bound - low) / (high - low);
        1.0 - place / (N - 1) as f32
    }

    /// Returns the values with their weights.
    pub(super) fn weighted(&self) -> impl Iterator<Item = (f32, f32)> {
        let weight = self.count as f32 / N as f32;
        self.at.into_iter().map(move |value| (value, weight)).filter(|(_, weight)| *weight > 0.0)
    }

    /// Returns the distribution of both together.
    pub(super) fn merged(&self, other: &Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { *other } else { *self };
        }
        let mut values: Vec<(f32, f32)> = self.weighted().chain(other.weighted()).collect();
        let mut merged = Self { count: self.count.saturating_add(other.count), at: [0.0; N] };
        for (number, at) in merged.at.iter_mut().enumerate() {
            *at = weighted_quantile(&mut values, number as f32 / (N - 1) as f32).unwrap_or(0.0);
        }
        merged
    }
}

/// Returns the quantile of `share` of weighted values, which it sorts; `None` without values.
pub(super) fn weighted_quantile(values: &mut [(f32, f32)], share: f32) -> Option<f32> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f32 = values.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let found = values.iter().find(|(_, weight)| {
        below += weight;
        below >= share * total
    });
    found.or(values.last()).map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_many_samples_equal_those_of_all_samples() {
        let mut samples = Samples::default();
        (0..10_000).for_each(|k| samples.push(k as f32));
        let quantiles: Quantiles<21> = samples.take();
        assert_eq!(quantiles.count(), 10_000);
        let near = |found: Option<f32>, expected: f32| (found.unwrap() - expected).abs() < 20.0;
        assert!(near(quantiles.quantile(0.5), 5_000.0) && near(quantiles.quantile(0.95), 9_500.0));
        assert!((quantiles.share_above(7_500.0) - 0.25).abs() < 0.01);
        assert_eq!((quantiles.share_above(-1.0), quantiles.share_above(1e9)), (1.0, 0.0));
        assert_eq!(samples.take::<21>().quantile(0.5), None, "the buffer was emptied");
    }

    #[test]
    fn merged_quantiles_weigh_by_counts() {
        let mut samples = Samples::default();
        (0..300).for_each(|_| samples.push(1.0));
        let many: Quantiles<21> = samples.take();
        (0..100).for_each(|_| samples.push(3.0));
        let merged = many.merged(&samples.take());
        assert_eq!(merged.count(), 400);
        assert_eq!((merged.quantile(0.5), merged.quantile(0.9)), (Some(1.0), Some(3.0)));
    }
}
