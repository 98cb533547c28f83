//! Integration tests of the interface.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod events;
mod header;
