//! Integration tests of the QUIC crate.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

#[path = "../../../sim/tests/it/common.rs"]
mod common;
mod loopback;
mod world;
