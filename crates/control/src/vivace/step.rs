//! The size of a step of the rate.

/// θ: change of the rate in Mbit/s for a utility that grows by 1 with each Mbit/s.
const CONVERSION: f64 = 1.0;

/// The exponent by which steps in one direction become longer.
const AMPLIFIER: f64 = 1.2;

/// ω and δ: the largest step as a share of the rate, and what is added for each step that was larger.
const BOUNDARY: f64 = 0.05;
const BOUNDARY_STEP: f64 = 0.05;

/// The change of the rate, which is proportional to the gradient of the utility, and bounded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// Number of steps that exceeded the boundary, less those that did not.
    exceeded: u32,
}

impl Step {
    /// Returns the change of `rate`, both in Mbit/s, for the absolute `slope` of the utility; the step is the
    /// `count`-th in its direction, from 1.
    pub(super) fn next(&mut self, slope: f64, rate: f64, count: u32) -> f64 {
        let change = CONVERSION * slope * libm::pow(f64::from(count.saturating_add(1) / 2), AMPLIFIER);
        let boundary = rate * (BOUNDARY + BOUNDARY_STEP * f64::from(self.exceeded));
        if change > boundary {
            self.exceeded = self.exceeded.saturating_add(1);
            return boundary;
        }
        self.exceeded = self.exceeded.saturating_sub(1);
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^1.2 = 2.29740, 3^1.2 = 3.73719.
    #[test]
    fn every_second_step_in_a_direction_is_longer() {
        for (count, expected) in [(1, 0.7), (2, 0.7), (3, 1.608_18), (4, 1.608_18), (5, 2.616_03)] {
            let found = Step::default().next(0.7, 100.0, count);
            assert!((found - expected).abs() < 1e-4, "{count}: {found} instead of {expected}");
        }
    }

    #[test]
    fn the_boundary_grows_with_each_step_beyond_it_and_shrinks_again() {
        let mut step = Step::default();
        let found = [450.0, 450.0, 450.0, 1.0, 450.0].map(|slope| step.next(slope, 20.0, 1));
        for (found, expected) in found.into_iter().zip([1.0, 2.0, 3.0, 1.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
        }
    }
}
