//! The facts and events of a link that Python queues and capacity sources receive.

use airpath_model::{Backlog, Bytes, ControlInterval};
use pyo3::prelude::*;

use super::BITS_PER_BYTE;

/// The properties of a link that are known before its first packet.
#[pyclass(frozen, get_all, module = "airpath._core")]
pub(crate) struct LinkFacts {
    /// The buffer of the link, bytes.
    buffer: u64,
}

impl LinkFacts {
    pub(super) fn of(buffer: Bytes) -> Self {
        Self { buffer: buffer.get() }
    }
}

/// What waits in the queue of a link.
#[pyclass(frozen, get_all, module = "airpath._core")]
pub(crate) struct Waiting {
    /// Bytes on the wire.
    bytes: u64,
    /// Packets.
    packets: u64,
}

impl Waiting {
    pub(super) fn of(backlog: Backlog) -> Self {
        Self { bytes: backlog.bytes.get(), packets: backlog.packets }
    }
}

/// What a router measured over a control interval: seconds, bits per second, bytes.
#[pyclass(frozen, get_all, module = "airpath._core")]
pub(crate) struct Interval {
    now: f64,
    length: f64,
    input_rate: f64,
    probing: f64,
    mean_rtt: f64,
    queue: f64,
    shortest_queue: f64,
    mean_queue: f64,
    last_queue: f64,
    buffer: f64,
}

impl Interval {
    pub(super) fn of(interval: &ControlInterval) -> Self {
        Self {
            now: interval.now.as_secs_f64(),
            length: interval.length.as_secs_f64(),
            input_rate: interval.input_rate * BITS_PER_BYTE,
            probing: interval.probing,
            mean_rtt: interval.mean_rtt.as_secs_f64(),
            queue: interval.queue,
            shortest_queue: interval.shortest_queue,
            mean_queue: interval.mean_queue,
            last_queue: interval.last_queue,
            buffer: interval.buffer,
        }
    }
}
