//! Running mean and variance.

/// Welford's running mean and variance: no values are stored, and there is no cancellation (Technometrics
/// 4(3), 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunningVariance {
    count: u64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    deviation: f64,
}

impl RunningVariance {
    /// Creates an accumulator without values.
    pub const fn new() -> Self {
        Self { count: 0, mean: 0.0, deviation: 0.0 }
    }

    /// Adds a value.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let from_old_mean = value - self.mean;
        self.mean += from_old_mean / self.count as f64;
        self.deviation += from_old_mean * (value - self.mean);
    }

    /// Returns the number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean; zero without values.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns the sum of squared deviations over n − 1; zero below two values.
    pub fn sample_variance(&self) -> f64 {
        if self.count < 2 { 0.0 } else { self.deviation / (self.count - 1) as f64 }
    }

    /// Returns the sum of squared deviations over n; zero without values.
    pub fn population_variance(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.deviation / self.count as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_variances_match_manual_computation() {
        let mut running = RunningVariance::new();
        assert!(running.sample_variance() + running.population_variance() <= 0.0);
        for value in [2.0, 4.0, 9.0] {
            running.push(value);
        }
        assert!((running.mean() - 5.0).abs() < 1e-15);
        assert!((running.sample_variance() - 13.0).abs() < 1e-14);
        assert!((running.population_variance() - 26.0 / 3.0).abs() < 1e-14);
    }

    #[test]
    fn a_large_offset_does_not_cancel() {
        let mut running = RunningVariance::new();
        for value in [1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0] {
            running.push(value);
        }
        assert!((running.sample_variance() - 1.0).abs() < 1e-6);
    }
}
