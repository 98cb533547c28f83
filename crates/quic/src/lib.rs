//! Our congestion controllers in QUIC: behind the interface that quinn gives controllers, and whole scenarios over quinn
//! in simulated time.
//!
//! [`ControllerFactory`] is what a program that uses quinn needs. The rest of quinn runs as it is: its loss detection,
//! pacing, acknowledgments and flow control.

mod clock;
mod controller;
mod logged;
mod quinns_own;
mod requirements;
mod world;

pub use controller::ControllerFactory;
pub use requirements::Unsupported;
pub use world::{QuicRun, RunError};
