//! What a link does to packets: how fast they leave, which of them are damaged, when they arrive.
//!
//! A [`LinkChannel`] is a [`RateProcess`] (when the last bit has left) and an [`ErrorProcess`] (whether the packet
//! is undamaged). What happens between leaving and arriving is a [`Propagation`]. Everything is driven by the
//! times that the caller gives; random choices come from the caller's [`RandomStream`](airpath_model::RandomStream)s.
#![no_std]

extern crate alloc;

mod error_process;
mod invalid;
mod link;
mod opportunities;
mod piecewise;
mod propagation;
mod rate_process;
mod schedule;
mod true_rate;
mod uniform;

pub use error_process::{Bernoulli, ErrorProcess, NoErrors};
pub use invalid::InvalidChannel;
pub use link::LinkChannel;
pub use opportunities::{OPPORTUNITY_SIZE, Opportunities, TraceEnd};
pub use piecewise::{Piecewise, RateSegments, Segment};
pub use propagation::{Jitter, Propagation};
pub use rate_process::RateProcess;
pub use schedule::{Schedule, ScheduleEnd, Step};
pub use true_rate::ChannelRate;
pub use uniform::UniformRate;
