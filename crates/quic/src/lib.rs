//! Airpath's congestion controllers in QUIC: behind quinn's controller interface, and complete scenarios over
//! quinn in simulated time.
//!
//! A program that uses quinn needs only [`ControllerFactory`]. The rest of quinn runs as it is: its loss
//! detection, pacing, acknowledgments and flow control.

mod clock;
mod controller;
mod logged;
mod quinns_own;
mod requirements;
mod world;

pub use controller::ControllerFactory;
pub use requirements::Unsupported;
pub use world::{QuicRun, RunError};
