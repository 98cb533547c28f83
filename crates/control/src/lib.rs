//! Congestion controllers composed of interchangeable parts.
//!
//! [`Windowed`] is a complete [`airpath_model::Controller`]. Algorithms differ in its two small parts: a
//! [`SlowStart`] ([`StandardSlowStart`], [`HystartPlusPlus`], [`EveryOtherRound`], [`EstimatedSsthresh`]) and
//! a [`WindowRule`] for congestion avoidance and for the response to a signal ([`NewReno`], [`Cubic`],
//! [`CubicEbe`], [`Vegas`], [`Westwood`] and more). Any slow start can be combined with any rule. Controllers
//! that do not follow this pattern implement `Controller` themselves, as [`Fixed`] does.
//! [`LossDifferentiation`] can wrap any of them.
//!
//! Windows and thresholds are bytes of payload. The formulas of the literature count segments, so the rules
//! convert at their interface.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod abc;
mod agent;
mod bbr;
mod bbr1;
mod bic;
mod copa;
mod cubic;
mod cubic_ebe;
#[cfg(feature = "declare")]
pub mod declare;
mod estimated_ssthresh;
mod fixed;
mod high_speed;
mod htcp;
mod hybla;
mod hystart_plus_plus;
mod illinois;
mod kite;
mod ledbat_plus_plus;
mod loss_differentiation;
mod new_reno;
mod prague;
mod qfcp;
#[cfg(feature = "declare")]
mod registry;
mod slow_start;
mod sprout;
mod threshold_unit;
mod vcp;
mod vegas;
mod veno;
mod verus;
mod vivace;
mod watching_phase;
mod westwood;
mod whole_bytes;
mod window_rule;
mod windowed;
mod windowed_extremum;
mod xcp;

#[cfg(feature = "declare")]
pub use abc::AbcSenderConfig;
pub use abc::{Abc, AbcConfig};
pub use agent::Agent;
pub use airpath_model::config::ConfigError;
pub use bbr::{Bbr, BbrConfig};
pub use bbr1::{Bbr1, Bbr1Config};
pub use bic::{Bic, BicConfig};
pub use copa::{Copa, CopaConfig};
pub use cubic::{Cubic, CubicConfig, CubicForm};
pub use cubic_ebe::{CubicEbe, ProbingGrowth};
pub use estimated_ssthresh::EstimatedSsthresh;
pub use fixed::{Fixed, FixedConfig};
pub use high_speed::{HighSpeed, HighSpeedConfig};
pub use htcp::{Htcp, HtcpConfig};
pub use hybla::HyblaConfig;
pub use hystart_plus_plus::{HystartPlusPlus, HystartPlusPlusConfig};
pub use illinois::{Illinois, IllinoisConfig};
pub use kite::{Kite, KiteConfig};
pub use ledbat_plus_plus::{LedbatPlusPlus, LedbatPlusPlusConfig};
#[cfg(feature = "declare")]
pub use loss_differentiation::DifferentiatedConfig;
pub use loss_differentiation::{
    CongestionEvidence, CongestionHistory, HistoryRule, LossDifferentiation, LossDifferentiationConfig,
};
pub use new_reno::{Counting, NewReno, NewRenoConfig};
pub use prague::{Prague, PragueConfig};
pub use qfcp::Qfcp;
#[cfg(feature = "declare")]
pub use qfcp::QfcpConfig;
pub use slow_start::{
    EveryOtherRound, EveryOtherRoundConfig, PerAcknowledgmentConfig, SlowStart, StandardConfig,
    StandardSlowStart,
};
pub use sprout::{Sprout, SproutConfig};
pub use threshold_unit::ThresholdUnit;
pub use vcp::{
    AdditiveScaling, AfterFreeze, LoadResponseConfig, Mpcp, MpcpConfig, RttScaling, Vcp, VcpBounds,
    VcpConfig, VcpFreeze,
};
pub use vegas::{Vegas, VegasConfig};
pub use veno::{Veno, VenoConfig};
pub use verus::{Verus, VerusConfig};
pub use vivace::{Vivace, VivaceConfig};
pub use westwood::{MinimumRtt, Westwood, WestwoodConfig, WestwoodReduction};
pub use window_rule::WindowRule;
pub use windowed::Windowed;
pub use xcp::{InterPacket, Xcp, XcpConfig};
