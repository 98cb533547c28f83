//! Links: a queue, a transmitter on a channel, and the packets on their way to the far end.

mod any;
mod full;
mod outside_queue;
mod part;
mod plain;

pub(crate) use any::AnyLink;
pub(crate) use full::Link;
pub(crate) use outside_queue::OutsideQueue;
pub(crate) use part::{Air, Queue};
pub(crate) use plain::{Offered, PlainLink};
