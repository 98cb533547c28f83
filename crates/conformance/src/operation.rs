//! Lists of operations.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// An event in the life of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// The application has that many packets to send; the window limits how many are sent.
    Send(u16),
    /// The oldest packets in flight are acknowledged at once.
    Acknowledge {
        /// The number of packets.
        count: u8,
        /// Whether the window limited the sender.
        window_limited: bool,
        /// Change of the window that routers allow, segments per round trip; `None` if their feedback was
        /// lost.
        word: Option<i8>,
    },
    /// An acknowledgment without new data.
    Duplicate,
    /// The oldest packet in flight is declared lost.
    Lose,
    /// The retransmission timer expires.
    Timeout,
    /// The receiver echoes a CE mark.
    CongestionExperienced,
    /// The clock advances by this number of milliseconds.
    Wait(u16),
    /// The last signal proves spurious.
    Spurious,
}

/// Generates random lists of operations.
pub fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        6 => (1_u16..200).prop_map(Operation::Send),
        8 => (1_u8..40, prop::bool::weighted(0.8), prop::option::weighted(0.9, -8_i8..=8))
            .prop_map(|(count, window_limited, word)| Operation::Acknowledge { count, window_limited, word }),
        1 => Just(Operation::Duplicate),
        2 => Just(Operation::Lose),
        1 => Just(Operation::Timeout),
        1 => Just(Operation::CongestionExperienced),
        6 => (0_u16..500).prop_map(Operation::Wait),
        1 => Just(Operation::Spurious),
    ];
    prop::collection::vec(operation, 1..200)
}
