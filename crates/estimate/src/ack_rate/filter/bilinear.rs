//! The filter of the first Westwood.

use airpath_model::Duration;

use super::start::Start;
use crate::ack_rate::sample::Sample;

/// The virtual samples that fill the gap before a sample. Without them, gaps above 2τ make the pole negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(rename_all = "kebab-case"))]
pub enum VirtualSamples {
    /// Samples of zero every τ/2 if the gap exceeds τ/2 (Casetti et al. 2001). The estimate falls during
    /// silence, but all data of a long gap then counts for its last piece only.
    Zero,
    /// The sample itself every τ/4 if the gap exceeds τ/4 (GM, section 5), for anti-aliased samples.
    Held,
    /// No virtual samples.
    None,
}

/// y = ((2τ − Δ) y + Δ (b + b₋₁))/(2τ + Δ) (GM eq. 6).
#[derive(Clone, Debug)]
pub struct Bilinear {
    tau: Duration,
    virtual_samples: VirtualSamples,
    start: Start,
    /// y and b₋₁.
    state: Option<(f64, f64)>,
}

impl Bilinear {
    /// Creates the filter. `tau` is greater than zero.
    pub fn new(tau: Duration, virtual_samples: VirtualSamples, start: Start) -> Self {
        Self { tau, virtual_samples, start, state: None }
    }

    /// Adds a sample and returns the output.
    pub fn update(&mut self, sample: Sample) -> f64 {
        let input = sample.bandwidth;
        let (mut output, mut previous) = match self.state {
            Some(state) => state,
            // The first sample is the first output.
            None if self.start == Start::First => (input, input),
            None => (0.0, 0.0),
        };
        let (pieces, fill) = match self.virtual_samples {
            VirtualSamples::None => (0, 0.0),
            VirtualSamples::Zero => (2, 0.0),
            VirtualSamples::Held => (4, input),
        };
        let mut rest = sample.interval.as_secs_f64();
        let (tau, gap) = (u128::from(self.tau.as_nanos()), u128::from(sample.interval.as_nanos()));
        if self.state.is_some() || self.start == Start::Zero {
            if pieces * gap > tau {
                let step = self.tau.as_secs_f64() / pieces as f64;
                output = self.step(output, previous, fill, step);
                // The remainder after N steps, exactly.
                rest = (pieces * gap % tau) as f64 / pieces as f64 / 1e9;
                // The previous input of the first step is the true previous sample. The other steps repeat a
                // constant input, which has a closed form, so that a silence of any length has the same cost.
                let pole = (2.0 * pieces as f64 - 1.0) / (2.0 * pieces as f64 + 1.0);
                let steps = (pieces * gap / tau - 1) as f64;
                output = fill + (output - fill) * libm::pow(pole, steps);
                previous = fill;
            }
            output = self.step(output, previous, input, rest);
        }
        self.state = Some((output, input));
        output
    }

    fn step(&self, output: f64, previous: f64, input: f64, interval: f64) -> f64 {
        let double = 2.0 * self.tau.as_secs_f64();
        ((double - interval) * output + interval * (input + previous)) / (double + interval)
    }
}
