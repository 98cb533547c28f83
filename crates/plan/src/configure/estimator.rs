//! From the plan of an ACK-rate estimator to the estimator.

use airpath_estimate::{
    AckRate, AckRateConfig, ConfigError, FilterConfig, SamplerConfig, Start, VirtualSamples, WindowLength,
};
use airpath_model::Duration;

use crate::plan::{AckRatePlan, FilterPlan, SamplerPlan, StartPlan, VirtualSamplesPlan};

impl AckRatePlan {
    /// The estimator, before it has seen anything: the same whether it runs in a sender or over a capture.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn build(&self) -> Result<AckRate, ConfigError> {
        AckRate::new(self.config())
    }

    /// The parameters of the estimator.
    pub const fn config(&self) -> AckRateConfig {
        match *self {
            Self::Filtered { sampler, filter } => {
                AckRateConfig::Filtered { sampler: self::sampler(sampler), filter: self::filter(filter) }
            }
            Self::WestwoodPlus { ticks_per_second } => AckRateConfig::WestwoodPlus { ticks_per_second },
        }
    }
}

const fn sampler(plan: SamplerPlan) -> SamplerConfig {
    match plan {
        SamplerPlan::PerAck => SamplerConfig::PerAck,
        SamplerPlan::RoundTrip => SamplerConfig::Accumulated(WindowLength::RoundTrip),
        SamplerPlan::Interval { interval_ns } => {
            SamplerConfig::Accumulated(WindowLength::Fixed(Duration::from_nanos(interval_ns)))
        }
        SamplerPlan::ReceiverClock { resolution_ns } => {
            SamplerConfig::ReceiverClock { resolution: Duration::from_nanos(resolution_ns) }
        }
        SamplerPlan::DeliveryRate => SamplerConfig::DeliveryRate,
        SamplerPlan::BackToBack { acks, spacing_ns } => {
            SamplerConfig::BackToBack { acks, spacing: Duration::from_nanos(spacing_ns) }
        }
    }
}

const fn filter(plan: FilterPlan) -> FilterConfig {
    match plan {
        FilterPlan::None => FilterConfig::None,
        FilterPlan::ZeroOrderHold { tau_ns, start } => {
            FilterConfig::ZeroOrderHold { tau: Duration::from_nanos(tau_ns), start: self::start(start) }
        }
        FilterPlan::TimeInvariant { alpha, start } => {
            FilterConfig::TimeInvariant { alpha, start: self::start(start) }
        }
        FilterPlan::Bilinear { tau_ns, virtual_samples, start } => FilterConfig::Bilinear {
            tau: Duration::from_nanos(tau_ns),
            virtual_samples: match virtual_samples {
                VirtualSamplesPlan::None => VirtualSamples::None,
                VirtualSamplesPlan::Zero => VirtualSamples::Zero,
                VirtualSamplesPlan::Held => VirtualSamples::Held,
            },
            start: self::start(start),
        },
        FilterPlan::Stability { beta, window } => FilterConfig::Stability { beta, window },
        FilterPlan::TwoState { good, bad, timed } => FilterConfig::TwoState { good, bad, timed },
        FilterPlan::Median { window } => FilterConfig::Median { window },
        FilterPlan::First => FilterConfig::First,
    }
}

const fn start(plan: StartPlan) -> Start {
    match plan {
        StartPlan::First => Start::First,
        StartPlan::Zero => Start::Zero,
    }
}
