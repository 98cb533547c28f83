//! Common parts of tests: small plans, and on Linux real hosts.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::wildcard_imports, reason = "plans are written with most of their types")]

#[cfg(target_os = "linux")]
pub(crate) mod connections;
#[cfg(target_os = "linux")]
mod hosts;
mod plans;
#[cfg(target_os = "linux")]
mod traffic;

#[cfg(target_os = "linux")]
#[allow(unused_imports, reason = "not every test file has hosts")]
pub(crate) use hosts::*;

#[allow(unused_imports, reason = "not every test file has hosts")]
pub(crate) use airpath_realtime::skipped;
pub(crate) use plans::*;

#[cfg(target_os = "linux")]
#[allow(unused_imports, reason = "not every test file has traffic")]
pub(crate) use traffic::*;
