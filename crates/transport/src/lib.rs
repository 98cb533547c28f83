//! A TCP-like transport without input and output: a [`Sender`] and a [`Receiver`] that take arriving segments
//! with their times, and return the segments to send and the time of their next timer.
//!
//! There is no handshake: a new connection is established, sequence numbers count payload bytes from zero,
//! and both endpoints know each other's options. Time is always an argument.
//!
//! Contract of the driver: times never decrease. After every call of [`Sender::on_ack`] or
//! [`Sender::on_timer`], call [`Sender::poll_transmit`] until it returns `None`, then [`Sender::next_timer`].
//! After every call of [`Receiver::on_segment`] or [`Receiver::on_timer`], call [`Receiver::poll_ack`], then
//! [`Receiver::next_timer`].
#![no_std]

extern crate alloc;

mod acknowledgment;
mod config;
mod delivery_rate;
mod ledger;
mod pacer;
mod proportional_rate_reduction;
mod quic_driver;
mod rack;
mod ranges;
mod receiver;
mod retransmission_timer;
mod segment;
mod sender;
mod tail_loss_probe;

pub use acknowledgment::{Acknowledgment, SackBlocks};
pub use config::{ConfigError, EcnMode, LossDetection, ReceiverConfig, Recovery, RtoFloor, SenderConfig};
pub use delivery_rate::{DeliveryRate, SendState};
pub use quic_driver::{QuicCounters, QuicDriver};
pub use receiver::Receiver;
pub use segment::Segment;
pub use sender::{Counters, Follower, ObservedAck, ObservedSegment, SendLimit, Sender};
