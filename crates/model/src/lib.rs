//! Shared foundation of airpath: time, quantities, events, and the traits between algorithms and backends.
//!
//! Contract: nothing in this crate, and no implementation of its traits, owns a clock, a socket, a file, a
//! thread or a global. Algorithms receive events with their times and return decisions. Simulator, link
//! emulator, Linux datapath and QUIC stack drive the *same* objects.
#![no_std]

extern crate alloc;

mod ack_rate;
mod bytes;
mod capacity;
mod channel;
#[macro_use]
mod codes;
pub mod config;
mod controller;
#[cfg(feature = "declare")]
pub mod declare;
mod ecn;
mod event;
mod header;
mod probe;
mod qdisc;
mod random;
mod rate;
mod steered;
mod time;
mod unit;
mod window_ceiling;

pub use ack_rate::{AckRateEstimator, AckRateRequirements};
pub use bytes::Bytes;
pub use capacity::{CapacitySource, ControlInterval, Spare, TrueRate};
pub use channel::{Channel, Damage, Passage, Transmission};
pub use controller::{Control, Controller, Pacing, Phase, Requirements};
pub use ecn::Ecn;
pub use event::{AckEvent, CongestionEvent, CongestionSignal, RateSample, RttEstimate, SendEvent};
pub use header::{AbcMark, LoadCode, LoadWord, PathHeader, XcpForm, XcpHeader};
pub use probe::{Measurement, NullProbe, Probe};
pub use qdisc::{Backlog, DropReason, Packet, Qdisc, QueueSink};
pub use random::RandomStream;
pub use rate::Rate;
pub use steered::{SenderReport, Steered, Steering};
pub use time::{Duration, Timestamp};
pub use unit::QueueUnit;
pub use window_ceiling::WindowCeilingEstimator;
