//! Tests that measure real time: `cargo test -p airpath-emu --test realtime`. Each test passes, fails, or is
//! inconclusive because the machine was not quiet (`airpath-realtime`). Plain `cargo test` does not run them.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stderr, reason = "measurements are shown")]

#[path = "../support/mod.rs"]
mod support;

mod accuracy;
mod check;
mod connections;
mod flood;
mod routers;
mod traces;
mod traffic;
