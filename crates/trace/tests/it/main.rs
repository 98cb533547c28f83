//! Integration tests of the file formats.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod capture;
mod conversions;
mod formats;
mod link_log;
mod link_logs;
mod properties;
mod recordings;
mod samples;
