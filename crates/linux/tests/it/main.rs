//! Tests whose verdict never depends on wall-clock time: computations, BPF programs run by the kernel over packets made by hand, and
//! a router that is driven by a virtual clock. `tests/realtime` has the tests that run in real time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "a measured error is worth reading")]

mod bounds;
mod configuration;
mod equivalence;
mod host_config;
mod host_vectors;
mod kernel;
mod router_config;
mod router_daemon;
mod router_equivalence;
mod router_standing;
mod router_time;
mod router_vectors;
mod saturation;
mod selection;
#[path = "../support/mod.rs"]
mod support;
mod vectors;
