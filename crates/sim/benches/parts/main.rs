//! The parts of a run alone: what one event, one packet, one acknowledgment, one step costs. An item is one of those.
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

/// Items in one measured call, so that the clock's own cost disappears.
const BATCH: u64 = 10_000;

fn main() {
    divan::main();
}
