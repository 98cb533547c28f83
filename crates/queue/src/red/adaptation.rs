//! Adaptive RED: `max_p` changes until the average is between its thresholds.

use airpath_model::{Duration, Timestamp};

/// Time between two steps (Floyd, Gummadi and Shenker 2001, figure 2: 0.5 s).
const INTERVAL: Duration = Duration::from_millis(500);
/// The largest step upwards, which is never more than a quarter of `max_p` (α: 0.01, section 3.3).
const STEP: f64 = 0.01;
/// The factor of a step downwards (β: 0.9).
const FACTOR: f64 = 0.9;
/// `max_p` does not fall further below the first value, or grow further above the second (0.01 and 0.5).
const RANGE: (f64, f64) = (0.01, 0.5);

/// The adaptation of `max_p` (Floyd, Gummadi and Shenker 2001, section 3): additive increase, multiplicative
/// decrease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptation {
    /// The averages between which `max_p` does not change: 40 and 60 % of the way between the thresholds.
    target: (f64, f64),
    max_probability: f64,
    changed: Timestamp,
}

impl Adaptation {
    /// Creates an adaptation for these thresholds with the initial value `max_probability`.
    pub(super) fn new(minimum: f64, maximum: f64, max_probability: f64) -> Self {
        let margin = 0.4 * (maximum - minimum);
        Self { target: (minimum + margin, maximum - margin), max_probability, changed: Timestamp::ZERO }
    }

    /// Returns `max_p`.
    pub(super) const fn max_probability(&self) -> f64 {
        self.max_probability
    }

    /// Adapts `max_p` to the average after the arrival of a packet. Steps are made at arrivals, as in
    /// ns-2.35.
    pub(super) fn on_arrival(&mut self, now: Timestamp, average: f64) {
        if now.since(self.changed) < INTERVAL {
            return;
        }
        let max_p = self.max_probability;
        if average < self.target.0 && max_p >= RANGE.0 {
            self.max_probability = max_p * FACTOR;
        } else if average > self.target.1 && max_p <= RANGE.1 {
            self.max_probability = max_p + STEP.min(max_p / 4.0);
        } else {
            return;
        }
        self.changed = now;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Returns `max_p` after each of `count` half seconds with this average; the thresholds are 5 and 15.
    fn steps(first: f64, average: f64, count: u64) -> Vec<f64> {
        let mut adaptation = Adaptation::new(5.0, 15.0, first);
        (1..=count)
            .map(|step| {
                adaptation.on_arrival(Timestamp::ZERO + INTERVAL * step, average);
                adaptation.on_arrival(Timestamp::ZERO + INTERVAL * step, average);
                adaptation.max_probability()
            })
            .collect()
    }

    /// Values computed independently.
    #[test]
    fn the_maximum_probability_grows_by_a_quarter_or_a_hundredth() {
        let expected = [0.025, 0.031_25, 0.039_062_5, 0.048_828_125, 0.058_828_125, 0.068_828_125];
        for (found, expected) in steps(0.02, 12.0, 6).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        let last = steps(0.02, 12.0, 100)[99];
        assert!((0.5..=0.51).contains(&last), "{last}");
    }

    /// Value computed independently: 0.05 · 0.9^16.
    #[test]
    fn the_maximum_probability_falls_by_a_tenth_down_to_a_hundredth() {
        let down = steps(0.05, 8.0, 40);
        assert!((down[0] - 0.045).abs() < 1e-15);
        assert!((down[39] - 0.009_265_100_944_259_21).abs() < 1e-15, "{}", down[39]);
    }

    #[test]
    fn the_maximum_probability_is_constant_in_the_middle() {
        assert_eq!(steps(0.05, 10.0, 3), [0.05; 3]);
    }
}
