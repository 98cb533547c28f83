//! What the router's program saw of a packet, and wrote on it.

use crate::native::{long, word};

/// A packet that passed: `struct record` of `bpf/router_record.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// When, in nanoseconds of the kernel's monotonic clock.
    pub time: u64,
    /// Packets that had arrived, this one included.
    pub count: u64,
    /// XCP: packets that had been given feedback, this one included; 0: it was given none.
    pub turn: u64,
    /// Packets that the device makes of it: more than one of a train.
    pub segments: u32,
    /// Bytes that the queue counts.
    pub size: u32,
    /// How often the programs had been guided.
    pub generation: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// The round-trip time that its XCP header says, microseconds.
    pub rtt_us: u32,
    /// The throughput that its XCP header says, byte/s.
    pub throughput: u32,
    /// The code or feedback that each of its segments came with.
    pub brought: i32,
    /// That with which they left.
    pub left: i32,
    /// Whether it could be written on.
    pub data: bool,
}

impl Passed {
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= 64).then(|| Self {
            time: long(bytes, 0),
            count: long(bytes, 8),
            turn: long(bytes, 16),
            segments: word(bytes, 24),
            size: word(bytes, 28),
            generation: word(bytes, 32),
            payload: word(bytes, 36),
            rtt_us: word(bytes, 40),
            throughput: word(bytes, 44),
            brought: word(bytes, 48).cast_signed(),
            left: word(bytes, 52).cast_signed(),
            data: word(bytes, 56) != 0,
        })
    }
}
