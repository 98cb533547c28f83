//! Definition of a run: links, flows, records, inputs, and the registry of components.
//!
//! A [`Plan`], its [inputs](Input) and a seed determine a run. Simulator, emulator and QUIC backend read the
//! same plan.

mod check;
mod components;
mod draw;
mod fault;
mod input;
mod plan;
mod planned_controller;
pub mod workload;

pub use check::MAX_TARGETS;
pub use components::Components;
pub use fault::{Fault, Part, PlanError};
pub use input::Input;
pub use plan::*;
pub use planned_controller::PlannedController;
