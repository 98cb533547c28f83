//! Loads congestion controllers from shared libraries, and checks their answers.
//!
//! A [`Library`] is a file that exports the table of `airpath_controller.h`. [`Library::entry`] makes it a component of the
//! registry of controllers, whose parameters are those that the library declares. A library that fails, or answers what is
//! impossible, reports to a [`FaultSink`] and is not called again.
//!
//! Libraries run in this process: a library that accesses memory that is not its own, or that does not return, cannot be
//! stopped.

pub mod answer;
mod declaration;
mod factory;
mod instance;
mod library;
mod names;

pub use answer::Timers;
pub use library::{Library, LoadError};
pub use names::interned;

use airpath_model::Timestamp;

/// Receives the faults of controllers that are not part of this source tree, and ends their run.
pub trait FaultSink: core::fmt::Debug + Send + Sync {
    /// A controller failed: the problem in one line, and the simulated time unless a connection was about to begin.
    fn on_fault(&self, problem: String, now: Option<Timestamp>);
}
