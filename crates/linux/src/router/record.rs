//! Records of the packets that the router's program saw, and of the values that it wrote to them.

use crate::native::{long, word};

/// A packet that passed: `struct record` of `bpf/router_record.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Time in nanoseconds of the kernel's monotonic clock.
    pub time: u64,
    /// Number of packets that had arrived, including this one.
    pub count: u64,
    /// XCP: number of packets that had received feedback, including this one; 0 if this packet received none.
    pub turn: u64,
    /// Number of packets into which the device splits it; more than one for a segmentation-offload packet.
    pub segments: u32,
    /// Size as the queue counts it, bytes.
    pub size: u32,
    /// Number of times that the programs had received instructions.
    pub generation: u32,
    /// Payload in bytes.
    pub payload: u32,
    /// The round-trip time in its XCP header, microseconds.
    pub rtt_us: u32,
    /// The throughput in its XCP header, byte/s.
    pub throughput: u32,
    /// The code or feedback with which each of its segments arrived.
    pub brought: i32,
    /// The code or feedback with which each of its segments left.
    pub left: i32,
    /// Whether the program can write to it.
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
