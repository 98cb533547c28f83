//! Integration tests of the simulator.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod abc;
mod ahead;
mod arq;
mod bursts;
mod busy;
mod capture;
mod closed_forms;
mod common;
mod completeness;
mod dctcp;
mod estimators;
mod intervals;
mod layering;
mod limits;
mod low_latency;
mod managed_queues;
mod network;
mod numbers;
mod outside;
mod peers;
mod properties;
mod qfcp;
mod qlog;
mod readings;
mod records;
mod refused;
mod run_end;
mod steps;
mod transfers;
mod vcp;
mod workloads;
mod xcp_peers;
mod yardsticks;
