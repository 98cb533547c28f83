//! The utility of a rate.

use super::VivaceConfig;

/// What a monitor interval showed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// The rate that was tried, in Mbit/s.
    pub(super) rate: f64,
    pub(super) utility: f64,
    /// The growth of the RTT per unit of time.
    pub(super) gradient: f64,
}

/// Returns `x^t − b x max(g, 0) − c x L` for the sending rate `x` in Mbit/s, the growth `g` of the RTT per
/// unit of time, and the share `L` of lost data (section 3 of the paper, with latency and loss).
pub(super) fn utility(config: &VivaceConfig, sending_rate: f64, gradient: f64, lost: f64) -> f64 {
    let penalty = config.latency_coefficient * gradient.max(0.0) + config.loss_coefficient * lost;
    libm::pow(sending_rate, config.exponent) - sending_rate * penalty
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10^0.9 = 7.94328; 900 × 10 × 0.01 = 90; 11.35 × 10 × 0.05 = 5.675.
    #[test]
    fn growth_of_the_rtt_and_losses_reduce_the_utility_in_proportion_to_the_rate() {
        let config = VivaceConfig::default();
        for (gradient, lost, expected) in [
            (0.0, 0.0, 7.943_282),
            (0.01, 0.0, -82.056_718),
            (-0.5, 0.0, 7.943_282),
            (0.0, 0.05, 2.268_282),
            (0.01, 0.05, -87.731_718),
        ] {
            let found = utility(&config, 10.0, gradient, lost);
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
        }
    }

    /// The slope 0.9 × 10^−0.1 − 11.35 L is zero at L = 0.0630.
    #[test]
    fn the_utility_grows_with_the_rate_up_to_six_percent_of_losses() {
        let config = VivaceConfig::default();
        for (lost, grows) in [(0.0, true), (0.0625, true), (0.0635, false)] {
            let [slower, faster] = [9.99, 10.01].map(|rate| utility(&config, rate, 0.0, lost));
            assert_eq!(faster > slower, grows, "{lost}");
        }
    }
}
