//! Integration tests of replayed captures and QUIC logs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;
mod containers;
mod corpus;
mod foreign;
mod live;
#[cfg(target_os = "linux")]
mod memory;
#[path = "../../../sim/tests/it/common.rs"]
mod plans;
mod qlog;
mod recorded;
mod simulated;
