//! Confidence interval of the mean of a correlated series.

use airpath_model::RandomStream;

/// The number of resamples.
const RESAMPLES: usize = 1000;
const SEED: u64 = 1;
/// The share of resampled means beyond each end of the interval.
const OUTSIDE: f64 = 0.025;

/// Returns the 95 % interval of the mean of `values` with these `weights` by a moving-block bootstrap
/// (Künsch, 1989): resamples consist of blocks of `block` successive values.
pub(super) fn mean_interval(values: &[f64], weights: &[f64], block: usize) -> Option<(f64, f64)> {
    let block = block.clamp(1, values.len().div_ceil(3).max(1));
    let starts = values.len().checked_sub(block)? + 1;
    let mut random = RandomStream::new(SEED, "diagnosis/headline");
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (mut sum, mut weight) = (0.0, 0.0);
            for _ in 0..values.len().div_ceil(block) {
                let start = (random.unit() * starts as f64) as usize; // below `starts`
                for place in start..start + block {
                    sum += values[place] * weights[place];
                    weight += weights[place];
                }
            }
            sum / weight
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share) as usize];
    Some((at(OUTSIDE), at(1.0 - OUTSIDE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_contains_the_mean_and_is_reproducible() {
        let values: Vec<f64> = (0..100).map(|k| f64::from((k * 37) % 101)).collect();
        let weights = vec![1.0; 100];
        let (low, high) = mean_interval(&values, &weights, 5).unwrap();
        assert!(low < 50.0 && 50.0 < high && high - low < 20.0, "{low} {high}");
        assert_eq!(mean_interval(&values, &weights, 5), Some((low, high)));
        assert_eq!(mean_interval(&[3.0, 3.0], &[1.0, 2.0], 5), Some((3.0, 3.0)));
        assert_eq!(mean_interval(&[], &[], 5), None);
    }
}
