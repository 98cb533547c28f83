//! Tests whose results never depend on wall-clock time: computations, BPF programs that the kernel runs on
//! handmade packets, and a router driven by a virtual clock. `tests/realtime` contains the tests that run in
//! real time.

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
