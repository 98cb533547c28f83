//! SARBE's filter: the weight of new samples is high as long as they agree with each other.

use airpath_model::config::check;

use super::exponential::keep;
use crate::ConfigError;

/// The longest window of [`Stability`].
pub const MAX_STABILITY_WINDOW: usize = 16;

/// The stability filter (SARBE eqs. 2 to 5; Kim and Noble 2001).
///
/// U = β U + (1 − β)|b − b₋₁|; α = U over the largest U of the last N, including the current one; y = α y +
/// (1 − α) b. A new maximum freezes the estimate for that sample. If all U are zero, all samples are equal
/// and α = 0.
#[derive(Clone, Debug)]
pub struct Stability {
    beta: f64,
    window: u8,
    instabilities: [f64; MAX_STABILITY_WINDOW],
    /// Index of the next U.
    next: u8,
    previous: Option<f64>,
    last: StabilityStep,
}

/// The result of one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StabilityStep {
    /// U, byte/s.
    pub instability: f64,
    /// The largest U of the window, byte/s.
    pub largest: f64,
    /// α, 0 to 1.
    pub alpha: f64,
    /// eBw, byte/s.
    pub estimate: f64,
}

impl Stability {
    /// Creates a filter with β from 0 to below 1 and N from 1 to [`MAX_STABILITY_WINDOW`].
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(beta: f64, window: u8) -> Result<Self, ConfigError> {
        check((0.0..1.0).contains(&beta), "beta", "from 0 to below 1", beta)?;
        let fits = (1..=MAX_STABILITY_WINDOW).contains(&usize::from(window));
        check(fits, "window", "from 1 to 16", f64::from(window))?;
        Ok(Self {
            beta,
            window,
            instabilities: [0.0; MAX_STABILITY_WINDOW],
            next: 0,
            previous: None,
            last: StabilityStep::default(),
        })
    }

    /// Adds a sample, byte/s.
    pub fn update(&mut self, sample: f64) -> StabilityStep {
        let previous = self.previous.replace(sample);
        let before = if previous.is_some() { self.last.estimate } else { sample };
        let difference = libm::fabs(sample - previous.unwrap_or(sample));
        let instability = keep(self.beta, self.last.instability, difference);
        self.instabilities[usize::from(self.next)] = instability;
        self.next = (self.next + 1) % self.window;
        // Unused slots contain zero.
        let largest = self.instabilities.iter().copied().fold(0.0, f64::max);
        let alpha = if largest > 0.0 { instability / largest } else { 0.0 };
        self.last = StabilityStep { instability, largest, alpha, estimate: keep(alpha, before, sample) };
        self.last
    }
}
