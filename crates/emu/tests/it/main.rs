//! Tests whose results do not depend on wall-clock time, thread scheduling or load. Measurements of real time
//! are in `tests/realtime`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../support/mod.rs"]
mod support;

mod connection_flows;
#[cfg(target_os = "linux")]
mod connections;
#[cfg(target_os = "linux")]
mod end;
mod exchange;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod routers;
#[cfg(target_os = "linux")]
mod traffic;
