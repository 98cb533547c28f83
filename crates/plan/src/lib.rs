//! What a run is: links, flows, records, inputs, and the registry of components.
//!
//! A [`Plan`], its [inputs](Input) and a seed determine a run. Simulator, emulator and QUIC backend read the same plan.

mod check;
mod components;
mod configure;
mod draw;
mod fault;
mod input;
mod plan;
pub mod workload;

pub use check::MAX_TARGETS;
pub use components::Components;
pub use configure::PlannedController;
pub use fault::{Fault, Part, PlanError};
pub use input::Input;
pub use plan::*;
