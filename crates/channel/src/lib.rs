//! Channel models: transmission rates, corruption and propagation of packets.
//!
//! A [`LinkChannel`] combines a [`RateProcess`] (when the last bit has left) and an [`ErrorProcess`] (whether
//! the packet arrives uncorrupted). A [`Propagation`] models the time between departure and arrival; an
//! [`Arq`] retransmits corrupted packets. All models are driven by the times that the caller passes; random
//! samples come from the caller's [`RandomStream`](airpath_model::RandomStream)s.
#![no_std]

extern crate alloc;

mod air_errors;
mod arq;
mod burst_errors;
mod bursts;
#[cfg(feature = "declare")]
pub mod declare;
mod error_process;
mod expected;
mod fading;
mod gilbert_elliott;
mod invalid;
mod link;
#[cfg(feature = "declare")]
mod losses;
mod matrix;
mod opportunities;
mod packet_loss;
mod piecewise;
mod propagation;
mod rate_process;
#[cfg(feature = "declare")]
pub mod rates;
mod reed_solomon;
#[cfg(feature = "declare")]
pub mod registry;
mod schedule;
mod sending_time;
mod steady_rate;
mod stepwise;
mod true_rate;
mod uniform;

pub use air_errors::{AirErrors, Coding};
pub use arq::{Arq, ArqConfig, Attempt};
pub use burst_errors::{PacketBursts, TimedBursts};
pub use bursts::{Bursts, Clock};
pub use error_process::{Bernoulli, ErrorProcess, NoErrors};
pub use expected::Expected;
pub use fading::{Antennas, Psk, TwoStateFading, linear_snr};
pub use gilbert_elliott::{GilbertElliott, State};
pub use invalid::InvalidChannel;
pub use link::LinkChannel;
pub use matrix::{Matrix, Steps};
pub use opportunities::{OPPORTUNITY_SIZE, Opportunities, TraceEnd};
pub use packet_loss::{AirChain, BitClock, PacketOutcomes};
pub use piecewise::{Piecewise, RateSegments, Segment};
pub use propagation::{Jitter, Propagation};
pub use rate_process::RateProcess;
pub use reed_solomon::{CodeRate, Codeword};
pub use schedule::{Schedule, ScheduleEnd, Step};
pub use steady_rate::SteadyRate;
pub use stepwise::StepByStep;
pub use true_rate::ChannelRate;
pub use uniform::UniformRate;
