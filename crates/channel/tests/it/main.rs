//! Integration tests of the channel crate.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod air;
mod burst_lengths;
mod bursts;
mod expected;
mod opportunities;
mod random;
mod schedule;
mod vectors;
