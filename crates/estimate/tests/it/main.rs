//! Integration tests of the estimators.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod ack_rate;
mod ceiling_properties;
mod closed_loop;
mod ebe;
mod intervals;
mod properties;
mod samplers;
mod sources;
mod support;
mod vectors;
