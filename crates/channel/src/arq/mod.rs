//! Link-layer retransmission: the link itself retransmits corrupted packets.

mod resequencer;

use alloc::collections::VecDeque;

use airpath_model::{Duration, Timestamp};
#[cfg(feature = "declare")]
use airpath_model::{
    config::ConfigError,
    declare::{Component, defaults},
};

#[cfg(feature = "declare")]
use crate::declare::Arqs;
use resequencer::Resequencer;

/// Retransmission of corrupted packets (selective repeat, bounded).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(deny_unknown_fields))]
pub struct ArqConfig {
    /// Maximum number of retransmissions of a packet, 0 to 255.
    #[cfg_attr(feature = "declare", schemars(example = 3))]
    pub retries: u8,
    /// From the end of a corrupted attempt to the earliest start of the next: the delay of the feedback.
    #[cfg_attr(feature = "declare", schemars(example = 8_000_000))]
    pub delay: Duration,
    /// Whether the far end holds packets until all previous ones have arrived or are given up.
    #[cfg_attr(feature = "declare", serde(default = "default::in_order"))]
    pub in_order: bool,
}

#[cfg(feature = "declare")]
defaults! {
    in_order: bool = true;
}

#[cfg(feature = "declare")]
impl Component<Arqs> for ArqConfig {
    const ID: &'static str = "selective-repeat";

    fn build(&self, (): ()) -> Result<Self, ConfigError> {
        Ok(*self)
    }
}

/// Selective-repeat ARQ with a bound: both ends of one direction of a link.
///
/// The sending end learns of corruption a fixed time after the attempt has left, and then retransmits the
/// packet as soon as the transmitter is free, before any new packet. A packet that was corrupted `retries` +
/// 1 times is given up. The receiving end delivers packets on arrival, or in the order of their first
/// attempts.
///
/// The feedback delay is the same for all packets, so they become due for retransmission in the order in
/// which their attempts left: a FIFO is sufficient. No memory is allocated per packet beyond the longest such
/// FIFO.
#[derive(Clone, Debug)]
pub struct Arq<P> {
    config: ArqConfig,
    next_number: u32,
    /// Corrupted packets with the time at which their feedback arrives, which never decreases.
    waiting: VecDeque<(Timestamp, Attempt, P)>,
    resequencer: Option<Resequencer<P>>,
}

/// One transmission of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Number of the packet in the order of first attempts; wraps at 2³².
    number: u32,
    /// Number of previous transmissions of the packet.
    repeats: u8,
}

impl Attempt {
    /// Returns whether the packet was sent before.
    pub const fn is_repeat(self) -> bool {
        self.repeats > 0
    }
}

impl<P> Arq<P> {
    /// Creates the state of a link before its first packet.
    pub fn new(config: ArqConfig) -> Self {
        Self {
            config,
            next_number: 0,
            waiting: VecDeque::new(),
            resequencer: config.in_order.then(Resequencer::default),
        }
    }

    /// Returns the attempt of a packet that is sent for the first time.
    pub fn first_attempt(&mut self) -> Attempt {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        Attempt { number, repeats: 0 }
    }

    /// Records that the last bit of an attempt left at `departs`, corrupted. Calls are in time order. Returns
    /// the packet if no retransmissions are left: it is lost.
    pub fn on_damage(&mut self, departs: Timestamp, attempt: Attempt, packet: P) -> Option<P> {
        if attempt.repeats == self.config.retries {
            return Some(packet);
        }
        let again = Attempt { repeats: attempt.repeats + 1, ..attempt };
        self.waiting.push_back((departs + self.config.delay, again, packet));
        None
    }

    /// Returns the time of the next retransmission; [`Timestamp::NEVER`] if there is none.
    pub fn next_repeat(&self) -> Timestamp {
        self.waiting.front().map_or(Timestamp::NEVER, |&(due, ..)| due)
    }

    /// Returns the packet to be retransmitted at `now`.
    pub fn repeat(&mut self, now: Timestamp) -> Option<(Attempt, P)> {
        if self.next_repeat() > now {
            return None;
        }
        self.waiting.pop_front().map(|(_, attempt, packet)| (attempt, packet))
    }

    /// Processes the arrival of an attempt at the far end, with its packet if that is uncorrupted. Returns
    /// the packet that is delivered now, if any; call [`Arq::release`] for more.
    pub fn receive(&mut self, attempt: Attempt, packet: Option<P>) -> Option<P> {
        let Some(resequencer) = &mut self.resequencer else { return packet };
        if packet.is_none() && attempt.repeats < self.config.retries {
            return None;
        }
        resequencer.receive(attempt.number, packet);
        resequencer.release()
    }

    /// Returns a packet that no longer waits for previous ones.
    pub fn release(&mut self) -> Option<P> {
        self.resequencer.as_mut().and_then(Resequencer::release)
    }

    /// Returns whether [`Arq::release`] would return a packet.
    pub fn can_release(&self) -> bool {
        self.resequencer.as_ref().is_some_and(Resequencer::can_release)
    }

    /// Returns the number of packets that wait for their retransmission, or have arrived and are held.
    pub fn packets(&self) -> u64 {
        self.waiting.len() as u64 + self.resequencer.as_ref().map_or(0, Resequencer::held)
    }
}
