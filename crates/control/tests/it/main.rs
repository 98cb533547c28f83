//! Integration tests of the congestion controllers.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod conformance;
mod cubic_2008;
mod golden;
mod hystart_plus_plus;
mod response;
mod support;
