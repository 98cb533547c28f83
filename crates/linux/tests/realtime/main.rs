//! Tests that run in real time: running daemons, and traffic over network namespaces. `cargo test` skips
//! them; `cargo test --package airpath-linux --test realtime` runs them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "a measured figure is worth reading")]

mod daemon;
mod host_faults;
mod host_options;
mod live;
mod paths;
mod router_clocks;
mod router_cost;
mod router_faults;
mod router_recorded;
mod router_standing;
mod serving;
mod signals;
#[path = "../support/mod.rs"]
mod support;
mod together;
mod tools;
mod units;
