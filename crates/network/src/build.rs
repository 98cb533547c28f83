//! Construction of links, queues, channels and records from a plan.

mod assemble;
mod channel;
mod rate_steps;
mod router;

pub(crate) use assemble::{assemble_links, assemble_recorder};
pub use channel::{independent_packet_loss, long_run_loss, packet_loss};
pub use rate_steps::rate_steps;
