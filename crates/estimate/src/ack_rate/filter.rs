//! Filters of bandwidth samples.

pub(crate) mod bilinear;
mod exponential;
pub(crate) mod link_state;
mod median;
pub(crate) mod stability;
mod start;
pub(crate) mod two_state;

use airpath_model::config::check;
#[cfg(feature = "declare")]
use airpath_model::declare::{Variants, defaults, plain_kind};
use airpath_model::{AckEvent, CongestionEvent, Duration};

use super::sample::Sample;
use crate::ConfigError;
use bilinear::{Bilinear, VirtualSamples};
use exponential::{TimeInvariant, ZeroOrderHold};
use median::Median;
use stability::Stability;
pub use start::Start;
use two_state::TwoState;

/// A filter of samples. The default is that of Westwood (Casetti et al. 2001).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields))]
pub enum FilterConfig {
    /// No filter: the last sample is the estimate.
    None,
    /// Low-pass with zero-order hold (GM eq. 2): y += (1 − e^(−Δ/τ))(b − y).
    ZeroOrderHold {
        /// tau, the time constant (GM: 1 s; 0.1 s demonstrates a value that is too short).
        #[cfg_attr(feature = "declare", serde(default = "default::tau"), schemars(extend("exclusiveMinimum" = 0)))]
        tau: Duration,
        /// State at the start: the `first` sample, or `zero`. GM does not specify it.
        #[cfg_attr(feature = "declare", serde(default))]
        start: Start,
    },
    /// Low-pass with a constant coefficient (GM eq. 3): y = α y + (1 − α) b, independent of Δ.
    TimeInvariant {
        /// alpha: the fraction of the old estimate that is kept at each sample (GM: 0.9).
        #[cfg_attr(feature = "declare", serde(default = "default::kept"), schemars(range(min = 0), extend("exclusiveMaximum" = 1)))]
        alpha: f64,
        /// State at the start: the `first` sample, or `zero`. GM does not specify it.
        #[cfg_attr(feature = "declare", serde(default))]
        start: Start,
    },
    /// Low-pass by the bilinear transform (GM eq. 6), the filter of the first Westwood.
    Bilinear {
        /// tau, the time constant (GM: 1 s).
        #[cfg_attr(feature = "declare", serde(default = "default::tau"), schemars(extend("exclusiveMinimum" = 0)))]
        tau: Duration,
        /// Virtual samples that fill long gaps: `zero` each tau/2 (the first Westwood), the sample itself
        /// (`held`) each tau/4 (GM, section 5), or `none`, with which a gap above 2 tau makes the estimate
        /// oscillate.
        #[cfg_attr(feature = "declare", serde(default = "default::virtual_samples"))]
        virtual_samples: VirtualSamples,
        /// State at the start: the `first` sample, or `zero`. GM does not specify it.
        #[cfg_attr(feature = "declare", serde(default))]
        start: Start,
    },
    /// SARBE's stability filter (eqs. 2 to 5).
    Stability {
        /// beta: the fraction of the old instability that is kept (SARBE: 0.8).
        #[cfg_attr(feature = "declare", serde(default = "default::beta"), schemars(range(min = 0), extend("exclusiveMaximum" = 1)))]
        beta: f64,
        /// N: the number of samples over which the largest instability is taken (SARBE: 8).
        #[cfg_attr(
            feature = "declare",
            serde(default = "default::stability_window"),
            schemars(range(min = 1, max = 16))
        )]
        window: u8,
    },
    /// Two coefficients, for the good and the bad state of a wireless link: a substitute for `DynaPara`.
    TwoState {
        /// The fraction of the old estimate that is kept at each sample in the good state (our choice).
        #[cfg_attr(feature = "declare", serde(default = "default::kept"), schemars(range(min = 0), extend("exclusiveMaximum" = 1)))]
        good: f64,
        /// The fraction that is kept in the bad state (our choice).
        #[cfg_attr(feature = "declare", serde(default = "default::bad"), schemars(range(min = 0), extend("exclusiveMaximum" = 1)))]
        bad: f64,
        /// Whether the fractions are kept over one smoothed RTT instead of over one sample.
        #[cfg_attr(feature = "declare", serde(default))]
        timed: bool,
    },
    /// The median of the last samples (for an even number, the lower of the two middle ones).
    Median {
        /// The number of samples over which the median is taken (our choice).
        #[cfg_attr(
            feature = "declare",
            serde(default = "default::median_window"),
            schemars(range(min = 1, max = 15))
        )]
        window: u8,
    },
    /// The first sample, which is kept forever.
    First,
}

#[cfg(feature = "declare")]
defaults! {
    tau: Duration = Duration::from_secs(1);
    kept: f64 = 0.9;
    virtual_samples: VirtualSamples = VirtualSamples::Zero;
    beta: f64 = 0.8;
    stability_window: u8 = 8;
    bad: f64 = 0.6;
    median_window: u8 = 9;
}

#[cfg(feature = "declare")]
impl Default for FilterConfig {
    fn default() -> Self {
        let (tau, virtual_samples) = (default::tau(), default::virtual_samples());
        Self::Bilinear { tau, virtual_samples, start: Start::default() }
    }
}

#[cfg(feature = "declare")]
plain_kind! {
    /// Filters of the samples of ACK-rate estimators.
    Filters, "filter", Filter
}

#[cfg(feature = "declare")]
impl Variants<Filters> for FilterConfig {
    fn build(&self, (): ()) -> Result<Filter, ConfigError> {
        Filter::new(*self)
    }
}

/// Computes an estimate from samples, byte/s.
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
    /// Creates a filter without samples.
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

    /// Returns whether the filter requires RTT samples.
    pub fn needs_rtt(&self) -> bool {
        matches!(&self.kind, Kind::TwoState(filter) if filter.is_timed())
    }

    /// Processes an acknowledgment. Its samples follow.
    pub fn on_ack(&mut self, event: &AckEvent) {
        if let Kind::TwoState(filter) = &mut self.kind {
            filter.on_ack(event);
        }
    }

    /// Processes a congestion signal.
    pub fn on_congestion(&mut self, event: &CongestionEvent) {
        if let Kind::TwoState(filter) = &mut self.kind {
            filter.on_congestion(event);
        }
    }

    /// Adds a sample and returns the estimate.
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

    /// Returns the estimate, or `None` before the first sample. It can be negative only for
    /// [`FilterConfig::Bilinear`] without virtual samples.
    pub fn estimate(&self) -> Option<f64> {
        self.estimate
    }
}
