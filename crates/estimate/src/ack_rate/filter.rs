//! What smooths samples of bandwidth.

pub(crate) mod bilinear;
mod exponential;
pub(crate) mod link_state;
mod median;
pub(crate) mod stability;
pub(crate) mod two_state;

use airpath_model::config::check;
use airpath_model::{AckEvent, CongestionEvent, Duration};

use super::sampler::Sample;
use crate::ConfigError;
use bilinear::{Bilinear, VirtualSamples};
use exponential::{TimeInvariant, ZeroOrderHold};
use median::Median;
use stability::Stability;
use two_state::TwoState;

/// Where a filter begins; the papers do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At the first sample. On compressed acknowledgments that can be far too high.
    #[default]
    First,
    /// At zero, from which it takes a few time constants to come up.
    Zero,
}

impl Start {
    /// The state that the first sample finds.
    fn before(self, first: f64) -> f64 {
        if self == Self::First { first } else { 0.0 }
    }
}

/// Which filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FilterConfig {
    /// None: the last sample is the estimate.
    None,
    /// Low-pass with zero-order hold (GM eq. 2): y += (1 − e^(−Δ/τ))(b − y).
    ZeroOrderHold {
        /// τ. GM: 1 s, and 0.1 s to show what is too short.
        tau: Duration,
        /// Where it begins.
        start: Start,
    },
    /// Low-pass with a constant coefficient (GM eq. 3): y = α y + (1 − α) b, whatever Δ.
    TimeInvariant {
        /// α, from 0 to below 1. GM: 0.9.
        alpha: f64,
        /// Where it begins.
        start: Start,
    },
    /// Low-pass by the bilinear transform (GM eq. 6), the filter of the first Westwood.
    Bilinear {
        /// τ. GM: 1 s.
        tau: Duration,
        /// What long gaps are filled with.
        virtual_samples: VirtualSamples,
        /// Where it begins.
        start: Start,
    },
    /// SARBE's stability filter (eqs. 2 to 5).
    Stability {
        /// β, from 0 to below 1. SARBE: 0.8.
        beta: f64,
        /// N, from 1 to [`crate::MAX_STABILITY_WINDOW`]. SARBE: 8.
        window: u8,
    },
    /// Two coefficients, for a good and a bad state of a wireless link: our stand-in for `DynaPara`.
    TwoState {
        /// The part of the old estimate that is kept in the good state, from 0 to below 1.
        good: f64,
        /// The same in the bad state.
        bad: f64,
        /// The parts are kept over one RTT instead of over one sample.
        timed: bool,
    },
    /// The median of the last samples (of an even number the lower one of the middle).
    Median {
        /// How many, from 1 to 15.
        window: u8,
    },
    /// The first sample for ever.
    First,
}

/// Makes an estimate of samples, byte/s.
#[derive(Clone, Debug)]
pub struct Filter {
    kind: Kind,
    estimate: Option<f64>,
}

#[derive(Clone, Debug)]
enum Kind {
    None,
    First,
    ZeroOrderHold(ZeroOrderHold),
    TimeInvariant(TimeInvariant),
    Bilinear(Bilinear),
    Stability(Stability),
    TwoState(TwoState),
    Median(Median),
}

impl Filter {
    /// A filter without samples.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(config: FilterConfig) -> Result<Self, ConfigError> {
        let time_constant = |tau: Duration| check(!tau.is_zero(), "tau", "longer than nothing", 0.0);
        let part = |value: f64, name| check((0.0..1.0).contains(&value), name, "from 0 to below 1", value);
        let kind = match config {
            FilterConfig::None => Kind::None,
            FilterConfig::First => Kind::First,
            FilterConfig::ZeroOrderHold { tau, start } => {
                time_constant(tau)?;
                Kind::ZeroOrderHold(ZeroOrderHold::new(tau, start))
            }
            FilterConfig::TimeInvariant { alpha, start } => {
                part(alpha, "alpha")?;
                Kind::TimeInvariant(TimeInvariant::new(alpha, start))
            }
            FilterConfig::Bilinear { tau, virtual_samples, start } => {
                time_constant(tau)?;
                Kind::Bilinear(Bilinear::new(tau, virtual_samples, start))
            }
            FilterConfig::Stability { beta, window } => Kind::Stability(Stability::new(beta, window)?),
            FilterConfig::TwoState { good, bad, timed } => {
                part(good, "good")?;
                part(bad, "bad")?;
                Kind::TwoState(TwoState::new(good, bad, timed))
            }
            FilterConfig::Median { window } => Kind::Median(Median::new(window)?),
        };
        Ok(Self { kind, estimate: None })
    }

    /// Whether it does not work without RTT samples.
    pub fn needs_rtt(&self) -> bool {
        matches!(&self.kind, Kind::TwoState(filter) if filter.is_timed())
    }

    /// An acknowledgment arrived; its samples come after.
    pub fn on_ack(&mut self, event: &AckEvent) {
        if let Kind::TwoState(filter) = &mut self.kind {
            filter.on_ack(event);
        }
    }

    /// A congestion signal.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        if let Kind::TwoState(filter) = &mut self.kind {
            filter.on_congestion(event);
        }
    }

    /// The estimate after one more sample.
    pub fn update(&mut self, sample: Sample) -> f64 {
        let estimate = match &mut self.kind {
            Kind::None => sample.bandwidth,
            Kind::First => self.estimate.unwrap_or(sample.bandwidth),
            Kind::ZeroOrderHold(filter) => filter.update(sample),
            Kind::TimeInvariant(filter) => filter.update(sample),
            Kind::Bilinear(filter) => filter.update(sample),
            Kind::Stability(filter) => filter.update(sample.bandwidth).estimate,
            Kind::TwoState(filter) => filter.update(sample),
            Kind::Median(filter) => filter.update(sample.bandwidth),
        };
        self.estimate = Some(estimate);
        estimate
    }

    /// The estimate; `None` before the first sample. Below zero at most for [`FilterConfig::Bilinear`] without virtual
    /// samples.
    pub fn estimate(&self) -> Option<f64> {
        self.estimate
    }
}
