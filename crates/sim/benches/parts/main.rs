//! The parts of a run in isolation: the cost of one event, one packet, one acknowledgment, one step. An item
//! is one of those.
//!
//! Whole runs, compared with ns-2, are measured by `tools/bench.py`.
#![allow(clippy::unwrap_used, reason = "constant configurations")]

mod channels;
#[path = "../../tests/it/common.rs"]
mod common;
mod estimators;
mod events;
mod links;
mod queues;
mod transport;

/// The number of items in one measured call, so that the overhead of the clock is negligible.
const BATCH: u64 = 10_000;

fn main() {
    divan::main();
}
