//! The probabilities of the rates of the link, and the forecast.

use alloc::boxed::Box;
use core::{array, fmt};

use super::model::{Model, Probabilities, RATES, arrivals, middle, normalize};

/// A probability for each rate.
#[derive(Clone)]
pub(super) struct Belief {
    probabilities: Box<Probabilities>,
}

impl Default for Belief {
    /// All rates have the same probability.
    fn default() -> Self {
        Self { probabilities: Box::new([1.0 / RATES as f64; RATES]) }
    }
}

impl fmt::Debug for Belief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Belief {{ mean: {} }}", self.mean())
    }
}

impl Belief {
    /// Returns the mean rate, in packets per second.
    pub(super) fn mean(&self) -> f64 {
        self.probabilities.iter().enumerate().map(|(rate, probability)| probability * middle(rate)).sum()
    }

    /// Advances the rate by one tick.
    pub(super) fn evolve(&mut self) {
        *self.probabilities = Model::get().next(&self.probabilities);
    }

    /// Updates the probabilities with the number of packets that arrived in one tick.
    pub(super) fn observe(&mut self, packets: u32) {
        // Logarithms, relative to the largest one of a possible rate: if the number is far from what every
        // rate predicts, all likelihoods underflow. The factorial is the same for all rates.
        let logarithms: Probabilities = array::from_fn(|rate| match (packets, arrivals(rate)) {
            (0, expected) => -expected,
            (_, 0.0) => f64::NEG_INFINITY,
            (packets, expected) => f64::from(packets) * libm::log(expected) - expected,
        });
        let possible = logarithms.iter().zip(self.probabilities.iter()).filter(|(_, old)| **old > 0.0);
        let largest = possible.map(|(logarithm, _)| *logarithm).fold(f64::NEG_INFINITY, f64::max);
        for (probability, logarithm) in self.probabilities.iter_mut().zip(logarithms) {
            *probability *= libm::exp(logarithm - largest);
        }
        normalize(&mut self.probabilities);
    }

    /// Returns the `quantile` of the number of packets that arrive within one tick, and within six.
    pub(super) fn forecast(&self, quantile: f64) -> [usize; 2] {
        Model::get().at_most.each_ref().map(|rows| {
            rows.partition_point(|at_most| {
                let terms = at_most.iter().zip(self.probabilities.iter());
                terms.map(|(at_most, probability)| at_most * probability).sum::<f64>() < quantile
            })
        })
    }
}
