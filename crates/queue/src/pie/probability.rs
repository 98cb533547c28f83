//! PIE's drop probability.

use airpath_model::Duration;

/// For probabilities below each first value, the step is divided by the second (RFC 8033, section 4.2).
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
/// For probabilities from the first value on, no step is larger than the second (RFC 8033, section 5.5).
const CAP: (f64, f64) = (0.1, 0.02);
/// Factor of the probability while the queue is empty (RFC 8033, section 4.2).
const DECAY: f64 = 0.98;

/// The probability, and the delays from which it is computed, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct DropProbability {
    target: f64,
    alpha: f64,
    beta: f64,
    value: f64,
    delay: f64,
}

impl DropProbability {
    pub(super) fn new(target: Duration, alpha: f64, beta: f64) -> Self {
        Self { target: target.as_secs_f64(), alpha, beta, value: 0.0, delay: 0.0 }
    }

    /// Returns the probability.
    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    /// Returns the delay of the last update, in seconds.
    pub(super) const fn delay(&self) -> f64 {
        self.delay
    }

    /// Returns whether the delay of the last update was below half of the target.
    pub(super) fn is_below_half_of_target(&self) -> bool {
        self.delay < self.target / 2.0
    }

    /// Updates the probability with the delay at the end of an update interval. Returns whether the queue is
    /// at rest: the probability is zero, and both delays are low.
    pub(super) fn update(&mut self, delay: Duration) -> bool {
        let (delay, before) = (delay.as_secs_f64(), self.delay);
        let low_before = self.is_below_half_of_target();
        let step = self.alpha * (delay - self.target) + self.beta * (delay - before);
        let scale = SCALES.iter().find(|&&(below, _)| self.value < below).map_or(1.0, |&(_, scale)| scale);
        let step = if self.value >= CAP.0 { (step / scale).min(CAP.1) } else { step / scale };
        self.value += step;
        if delay == 0.0 && before == 0.0 {
            self.value *= DECAY;
        }
        self.value = self.value.clamp(0.0, 1.0);
        self.delay = delay;
        self.value == 0.0 && low_before && self.is_below_half_of_target()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probability() -> DropProbability {
        DropProbability::new(Duration::from_millis(15), 0.125, 1.25)
    }

    /// Values computed independently.
    #[test]
    fn the_probability_grows_in_steps_that_match_its_magnitude() {
        let mut probability = probability();
        let expected = [
            (20, 1.251_220_703_125e-5),
            (30, 1.248_168_945_312_5e-4),
            (50, 1.042_785_644_531_25e-3),
            (100, 1.018_341_064_453_125e-2),
            (200, 8.424_591_064_453_125e-2),
            (300, 0.164_558_410_644_531_25),
            (400, 0.184_558_410_644_531_25),
            (500, 0.204_558_410_644_531_25),
        ];
        for (millis, expected) in expected {
            assert!(!probability.update(Duration::from_millis(millis)));
            assert!((probability.value() - expected).abs() < 1e-15, "{} {expected}", probability.value());
        }
    }

    #[test]
    fn the_probability_decays_while_the_queue_is_empty() {
        let mut probability = probability();
        for millis in [20, 30, 50, 100, 0] {
            probability.update(Duration::from_millis(millis));
        }
        let mut updates = 0;
        let mut last = probability.value();
        while !probability.update(Duration::ZERO) {
            assert!(probability.value() < last, "{last}");
            last = probability.value();
            updates += 1;
        }
        assert!(updates < 500, "{updates}");
        assert!(probability.value() == 0.0);
    }

    /// Both delays must be below half of the target (RFC 8033, section 4.2).
    #[test]
    fn a_recently_long_queue_is_not_idle() {
        let mut probability = DropProbability::new(Duration::from_millis(15), 0.125, 0.0);
        probability.update(Duration::from_millis(10));
        assert!(!probability.update(Duration::from_millis(5)));
        assert!(probability.update(Duration::from_millis(5)));
    }

    /// RFC 8033, section 4.2: p is multiplied by 0.98 if the delay and the previous delay are zero. The queue
    /// is not at rest while p is above zero.
    #[test]
    fn a_large_probability_decays_once_the_queue_stays_empty() {
        let mut probability = DropProbability::new(Duration::from_millis(15), 0.125, 0.0);
        for millis in (100..=3000).step_by(100).chain([10]) {
            probability.update(Duration::from_millis(millis));
        }
        let large = probability.value();
        assert!(large > 0.2, "{large}");
        probability.update(Duration::ZERO);
        let fallen = large - 0.125 * 0.015;
        assert!((probability.value() - fallen).abs() < 1e-12, "not yet: the queue was there before");
        assert!(!probability.update(Duration::ZERO));
        assert!((probability.value() - 0.98 * (fallen - 0.125 * 0.015)).abs() < 1e-12);
    }
}
