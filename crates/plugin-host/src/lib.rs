//! Loads components from shared libraries, and checks their answers.
//!
//! A [`Library`] is a file that exports tables of `airpath_controller.h` and `airpath_components.h`: a congestion
//! controller, an ACK-rate estimator, a capacity source, a queue discipline. [`Library::entry`] makes one of them a component
//! of a registry, whose parameters are those that the library declares. A component that fails, or answers what is
//! impossible, reports to a [`FaultSink`] and is not called again.
//!
//! Libraries run in this process: a library that accesses memory that is not its own, or that does not return, cannot be
//! stopped.

pub mod answer;
mod controller;
mod declaration;
mod estimator;
mod factory;
mod host;
mod instance;
mod library;
mod names;
mod packets;
mod queue;
mod recorded;
mod source;
mod table;
mod waiting;

pub use answer::Timers;
pub use factory::LibraryKind;
pub use library::{Library, LoadError};
pub use names::interned;
pub use packets::Packets;

use airpath_model::Timestamp;

/// Receives the faults of components that are not part of this source tree, and ends their run.
pub trait FaultSink: core::fmt::Debug + Send + Sync {
    /// A component failed: the problem in one line, and the simulated time unless a connection was about to begin.
    fn on_fault(&self, problem: String, now: Option<Timestamp>);
}
