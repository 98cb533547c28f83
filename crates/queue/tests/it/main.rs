//! Integration tests of queue disciplines and router protocols.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod abc;
mod conformance;
mod driver;
mod drop_tail;
mod managed;
mod packet;
mod qfcp;
mod source;
mod vcp;
mod xcp;
