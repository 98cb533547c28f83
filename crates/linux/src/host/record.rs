//! What the controllers of the kernel were told, and their answers.

use crate::native::{AckEvent, CongestionEvent, long, word};

/// One call of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which connection, counted from one.
    pub connection: u64,
    /// Which controller, as [`crate::native::Kind`] numbers them.
    pub controller: u32,
    /// What it was told.
    pub told: Told,
    /// Its window afterwards, bytes.
    pub window: u64,
}

/// What a controller was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It begins, with packets of at most so many bytes of payload.
    Start {
        /// Largest payload of a packet.
        mss: u32,
    },
    /// An acknowledgment.
    Ack(AckEvent),
    /// A congestion signal.
    Congestion(CongestionEvent),
    /// The last signal was false.
    Spurious,
}

/// `struct record`.
pub(super) fn decode(bytes: &[u8]) -> Option<Record> {
    if bytes.len() < 80 {
        return None;
    }
    let event = &bytes[24..];
    let told = match word(bytes, 20) {
        0 => Told::Start { mss: word(event, 0) },
        1 => Told::Ack(AckEvent::of_bytes(event)),
        2 => Told::Congestion(CongestionEvent::of_bytes(event)),
        3 => Told::Spurious,
        _ => return None,
    };
    Some(Record { connection: long(bytes, 0), controller: word(bytes, 16), told, window: long(bytes, 8) })
}
