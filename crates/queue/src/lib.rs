//! Queue disciplines, which decide which packet waits, is sent next, or is dropped.
//!
//! There is one file for each discipline and each router protocol ([`Router`] combines a protocol with a
//! drop-tail buffer). All of them implement the contract of [`airpath_model::Qdisc`], which one conformance
//! suite (`tests/it/conformance.rs`) checks.
#![no_std]

extern crate alloc;

mod abc;
mod avq;
mod classifier;
mod codel;
#[cfg(feature = "declare")]
pub mod declare;
mod drop_tail;
mod drr;
mod dual_pi2;
mod fifo;
mod fq_codel;
mod interval_meter;
mod lanes;
mod limit;
mod mark;
mod pie;
mod policer;
mod priority;
mod qfcp;
mod red;
#[cfg(feature = "declare")]
pub mod registry;
mod rem;
mod router;
mod sample;
mod sliding_rate;
mod vcp;
mod xcp;

pub use abc::{Abc, AbcConfig};
pub use airpath_model::QueueUnit;
pub use airpath_model::config::ConfigError;
pub use avq::{Avq, AvqConfig};
pub use classifier::Classifier;
pub use codel::{Codel, CodelConfig};
pub use drop_tail::DropTail;
pub use drr::Drr;
#[cfg(feature = "declare")]
pub use drr::{DrrConfig, WeightedDrrConfig};
pub use dual_pi2::{DualPi2, DualPi2Config};
pub use fq_codel::{FqCodel, FqCodelConfig};
pub use limit::Limit;
pub use pie::{Pie, PieConfig, PieDelay};
pub use policer::{Policer, PolicerConfig};
pub use priority::Priority;
#[cfg(feature = "declare")]
pub use priority::PriorityConfig;
pub use qfcp::{Qfcp, QfcpConfig};
pub use red::{Red, RedConfig};
pub use rem::{Rem, RemConfig, Unmarkable};
pub use router::{Router, RouterProtocol};
pub use sample::QueueSample;
pub use vcp::{LoadFactor, LoadFactorConfig, Mpcp, Vcp};
#[cfg(feature = "declare")]
pub use vcp::{MpcpConfig, VcpConfig};
pub use xcp::{NegativeShare, UpsilonOn, Xcp, XcpConfig, XcpControl, XcpFeedback, XcpFlows};
