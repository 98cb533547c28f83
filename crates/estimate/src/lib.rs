//! Bandwidth estimators.
//!
//! Capacity sources estimate the capacity of a link for a router protocol
//! ([`airpath_model::CapacitySource`]); this crate also contains their parts. Top down: [`Ebe`] consists of a
//! [`Predictor`] (an extended Kalman filter, [`Estimate`], on the mean of the M/M/1 queue,
//! [`TransientMean`]), a [`LinkCapacityMonitor`] and a [`QueueMaintainer`].
//!
//! ACK-rate estimators estimate the bandwidth of a path for a sender ([`airpath_model::AckRateEstimator`]):
//! an [`AckRate`] is a [`Sampler`] and a [`Filter`], or [`WestwoodPlus`].
//!
//! Window ceilings estimate the largest window for a sender ([`airpath_model::WindowCeilingEstimator`]):
//! [`EbeCeiling`] is a [`CeilingFilter`] and an [`RttMaintainer`].
//!
//! The pages of the sources and estimators, `docs/reference/sources/` and `docs/reference/estimators/`, contain
//! the formulas, the papers' misprints and the chosen interpretations.
#![no_std]

extern crate alloc;

mod ack_rate;
mod busy;
mod ceiling_filter;
mod configured;
#[cfg(feature = "declare")]
pub mod declare;
mod ebe;
mod ebe_ceiling;
mod interval_means;
mod kalman;
mod latch;
mod link_capacity_monitor;
mod oracle;
mod predictor;
mod qfcp;
mod queue_maintainer;
mod queue_target;
#[cfg(feature = "declare")]
pub mod registry;
mod report;
mod rtt_maintainer;
mod running_variance;
mod skellam;
mod transient_mean;
mod xcp_b;

pub use ack_rate::{
    AckRate, AckRateConfig, AckedCount, Bilinear, Filter, FilterConfig, LinkState, MAX_STABILITY_WINDOW,
    OutsideEstimator, Sample, Sampler, SamplerConfig, Stability, StabilityStep, Start, TwoState,
    VirtualSamples, WestwoodPlus,
};
pub use airpath_model::config::ConfigError;
pub use busy::{Busy, BusyConfig};
pub use ceiling_filter::{CeilingCycle, CeilingFilter, CeilingMeasured, CeilingProfile, Trigger};
pub use configured::{Configured, ConfiguredConfig};
pub use ebe::{Ebe, EbeConfig, SampledQueue, SpareArrivals};
pub use ebe_ceiling::{EbeCeiling, EbeCeilingConfig, RttMaintenance};
pub use kalman::{Covariance, Estimate, Gain, Jacobian};
pub use latch::Latch;
pub use link_capacity_monitor::{LinkCapacityMonitor, Monitor, MonitorInput};
pub use oracle::{Oracle, OracleConfig};
pub use predictor::{Cycle, Measured, Predictor, Profile};
pub use qfcp::{Qfcp, QfcpConfig};
pub use queue_maintainer::{Maintenance, QueueMaintainer};
pub use rtt_maintainer::{RttMaintainer, RttThreshold};
pub use running_variance::RunningVariance;
pub use transient_mean::{TransientMean, Transition};
pub use xcp_b::{QueueSignal, XcpB, XcpBConfig};
