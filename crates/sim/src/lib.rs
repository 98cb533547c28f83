//! Discrete-event simulator.
extern crate alloc;
pub mod plan;
