//! Congestion controllers, made by composition.
//!
//! [`Windowed`] is a whole [`airpath_model::Controller`]; what differs between algorithms is two small parts that
//! it holds: a [`SlowStart`] ([`StandardSlowStart`], [`HystartPlusPlus`], [`EstimatedSsthresh`]) and a [`WindowRule`] for congestion
//! avoidance and for the answer to a signal ([`NewReno`], [`Cubic`], [`Westwood`]). Any slow start goes with any rule.
//! Controllers that do not follow this pattern implement `Controller` themselves, as [`Fixed`] does.
//!
//! Windows and thresholds are bytes of payload; the formulas of the literature count segments, and the rules
//! convert at their edge.
#![no_std]

mod cubic;
mod estimated_ssthresh;
mod fixed;
mod hystart_plus_plus;
mod new_reno;
mod qfcp;
mod slow_start;
mod vcp;
mod westwood;
mod window_rule;
mod windowed;
mod xcp;

pub use airpath_model::config::ConfigError;
pub use cubic::{Cubic, CubicConfig, CubicForm};
pub use estimated_ssthresh::EstimatedSsthresh;
pub use fixed::Fixed;
pub use hystart_plus_plus::{HystartPlusPlus, HystartPlusPlusConfig};
pub use new_reno::{Counting, NewReno};
pub use qfcp::Qfcp;
pub use slow_start::{SlowStart, StandardSlowStart};
pub use vcp::{Mpcp, MpcpConfig, RttScaling, Vcp, VcpBounds, VcpConfig, VcpFreeze};
pub use westwood::{MinimumRtt, Westwood, WestwoodConfig, WestwoodReduction};
pub use window_rule::WindowRule;
pub use windowed::Windowed;
pub use xcp::Xcp;
