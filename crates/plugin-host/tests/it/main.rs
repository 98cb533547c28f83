//! Integration tests of the loader, with the examples of `airpath-plugin`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

#[path = "../../../sim/tests/it/common.rs"]
mod common;
mod component_faults;
mod contract;
mod equality;
mod examples;
mod faults;
mod loading;
mod support;
