//! REM's price of a link.

/// The price, which determines the probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    gamma: f64,
    alpha: f64,
    phi: f64,
    target: f64,
    value: f64,
    probability: f64,
}

impl Price {
    /// Creates a price of zero.
    pub(super) const fn new(gamma: f64, alpha: f64, phi: f64, target: f64) -> Self {
        Self { gamma, alpha, phi, target, value: 0.0, probability: 0.0 }
    }

    /// Returns the price.
    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    /// Returns 1 − φ^−price.
    pub(super) const fn probability(&self) -> f64 {
        self.probability
    }

    /// Updates the price at the end of an interval in which `arrived` packets arrived, the link could have
    /// carried `carried` packets, and `queue` packets wait.
    pub(super) fn update(&mut self, arrived: f64, queue: f64, carried: f64) {
        let step = arrived + self.alpha * (queue - self.target) - carried;
        self.value = (self.value + self.gamma * step).max(0.0);
        self.probability = 1.0 - libm::pow(self.phi, -self.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed independently: 10 Mbit/s, packets of 1500 bytes, T = 2 ms.
    #[test]
    fn the_price_follows_rate_and_queue() {
        let mut price = Price::new(0.001, 0.1, 1.001, 20.0);
        let steps = [
            (10.0, 50.0, 0.034 / 3.0),
            (3.0, 80.0, 0.056 / 3.0),
            (0.0, 30.0, 0.018),
            (1.0, 20.0, 0.052 / 3.0),
            (0.0, 5.0, 0.0425 / 3.0),
        ];
        for (arrived, queue, expected) in steps {
            price.update(arrived, queue, 5.0 / 3.0);
            assert!((price.value() - expected).abs() < 1e-15, "{} {expected}", price.value());
        }
        assert!((price.probability() - 1.415_950_6e-5).abs() < 1e-10, "{}", price.probability());
        price.update(0.0, 0.0, 100.0);
        assert!(price.value() == 0.0 && price.probability() == 0.0, "a price is never negative");
    }
}
