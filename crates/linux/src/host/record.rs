//! Records of the inputs and the results of the kernel's controllers.

use crate::native::{AckEvent, CongestionEvent, long, word};

/// One call of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of the connection, counted from one.
    pub connection: u64,
    /// Number of the controller in [`crate::native::Kind`].
    pub controller: u32,
    /// The input of the call.
    pub told: Told,
    /// The controller's window after the call, bytes.
    pub window: u64,
}

/// The input of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Start of the controller, with its maximum segment size.
    Start {
        /// Largest payload of a packet.
        mss: u32,
    },
    /// An acknowledgment.
    Ack(AckEvent),
    /// A congestion signal.
    Congestion(CongestionEvent),
    /// The last signal was spurious.
    Spurious,
}

/// Decodes a `struct record`.
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
