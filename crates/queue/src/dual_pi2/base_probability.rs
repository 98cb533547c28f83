//! DualPI2's p', which determines the probabilities of both queues.

use airpath_model::Duration;

/// A proportional-integral controller of the delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseProbability {
    target: f64,
    alpha: f64,
    beta: f64,
    value: f64,
    /// The delay of the last update, seconds.
    delay: f64,
}

impl BaseProbability {
    /// Creates the controller of an empty queue.
    pub(super) fn new(target: Duration, alpha: f64, beta: f64) -> Self {
        Self { target: target.as_secs_f64(), alpha, beta, value: 0.0, delay: 0.0 }
    }

    /// Returns p'.
    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    /// Updates p' with the delay at the end of an update interval.
    pub(super) fn update(&mut self, delay: Duration) {
        let delay = delay.as_secs_f64();
        let step = self.alpha * (delay - self.target) + self.beta * (delay - self.delay);
        self.value = (self.value + step).clamp(0.0, 1.0);
        self.delay = delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed by hand: α 0.16 Hz, β 3.2 Hz, target 15 ms.
    #[test]
    fn the_probability_follows_error_and_change() {
        let mut base = BaseProbability::new(Duration::from_millis(15), 0.16, 3.2);
        let expected = [(20, 0.0648), (30, 0.0992), (30, 0.1016), (5, 0.02), (0, 0.0016), (0, 0.0)];
        for (millis, expected) in expected {
            base.update(Duration::from_millis(millis));
            assert!((base.value() - expected).abs() < 1e-15, "{} {expected}", base.value());
        }
        base.update(Duration::from_secs(10));
        assert!((base.value() - 1.0).abs() < f64::EPSILON, "{}", base.value());
    }
}
