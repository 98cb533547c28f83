//! The cycle of an extended Kalman filter with two states; the first one is measured.

/// A symmetric 2 × 2 covariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance {
    /// Variance of the first state.
    pub p11: f64,
    /// Covariance of the two states.
    pub p12: f64,
    /// Variance of the second state.
    pub p22: f64,
}

impl Covariance {
    /// Returns the covariance of two uncorrelated states.
    pub const fn diagonal(p11: f64, p22: f64) -> Self {
        Self { p11, p12: 0.0, p22 }
    }
}

/// State and covariance between two cycles (a posteriori) or between prediction and update (a priori).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The states, each in its own unit.
    pub x: [f64; 2],
    /// Their covariance.
    pub p: Covariance,
}

/// First row of the Jacobian; the second is [0, 1] (EBE-J eq. 17).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jacobian {
    /// Element (1,1).
    pub j11: f64,
    /// Element (1,2).
    pub j12: f64,
}

/// Kalman gain for H = [1 0].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Gain of the measured state.
    pub k1: f64,
    /// Gain of the other state.
    pub k2: f64,
}

impl Estimate {
    /// Returns the a-priori estimate: `x` is f of the state, `noise` the diagonal of Ψ. P⁻ = J P Jᵀ + Ψ
    /// (EBE-J eq. 6).
    #[must_use]
    pub fn predict(&self, x: [f64; 2], jacobian: Jacobian, noise: [f64; 2]) -> Self {
        let Covariance { p11, p12, p22 } = self.p;
        let Jacobian { j11, j12 } = jacobian;
        let propagated = j11 * j11 * p11 + 2.0 * j11 * j12 * p12 + j12 * j12 * p22;
        Self {
            x,
            p: Covariance {
                // Rounding of strongly correlated states must not make a variance negative.
                p11: propagated.max(0.0) + noise[0],
                p12: j11 * p12 + j12 * p22,
                p22: p22 + noise[1],
            },
        }
    }

    /// Returns the a-posteriori estimate after measuring `z` of the first state with noise variance `r` > 0
    /// (EBE-J eqs. 7 and 8 with H = [1 0]; the covariance in the symmetric form of docs/reference/sources/ebe.md).
    #[must_use]
    pub fn update(&self, z: f64, r: f64) -> (Self, Gain) {
        let Covariance { p11, p12, p22 } = self.p;
        let s = p11 + r;
        let gain = Gain { k1: p11 / s, k2: p12 / s };
        let residual = z - self.x[0];
        let posterior = Self {
            x: [self.x[0] + gain.k1 * residual, self.x[1] + gain.k2 * residual],
            p: Covariance { p11: r * p11 / s, p12: r * p12 / s, p22: (p22 - p12 * p12 / s).max(0.0) },
        };
        (posterior, gain)
    }

    /// Sets states below zero to zero: neither a queue nor a rate is negative.
    #[must_use]
    pub fn non_negative(self) -> Self {
        Self { x: [self.x[0].max(0.0), self.x[1].max(0.0)], p: self.p }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A random walk measured with noise: the covariance converges to P⁻ = q/2 + √(q²/4 + qR).
    #[test]
    fn the_gain_of_a_random_walk_settles_at_its_closed_form() {
        let (q, r) = (1e-5, 1e-2);
        let mut estimate = Estimate { x: [0.0; 2], p: Covariance::diagonal(1.0, 1.0) };
        let mut k1 = 0.0;
        for _ in 0..2000 {
            let prior = estimate.predict(estimate.x, Jacobian { j11: 1.0, j12: 0.0 }, [q, 0.0]);
            let (posterior, gain) = prior.update(1.0, r);
            (estimate, k1) = (posterior, gain.k1);
        }
        let expected = (-q + libm::sqrt(q * q + 4.0 * q * r)) / (2.0 * r);
        assert!((k1 - expected).abs() < 1e-9, "{k1} {expected}");
        assert!((estimate.x[0] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn states_and_variances_stay_at_or_above_zero() {
        let prior = Estimate { x: [1.0, 1.0], p: Covariance { p11: 1e8, p12: 1e8, p22: 1e8 } };
        let (posterior, _) = prior.update(-5.0, 1e-12);
        assert!(posterior.x[0] < 0.0);
        assert!(posterior.non_negative().x.iter().all(|x| x.abs() < f64::MIN_POSITIVE));
        assert!(posterior.p.p22 >= 0.0 && posterior.p.p11 >= 0.0);
    }
}
