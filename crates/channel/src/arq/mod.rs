//! Link-layer retransmission: a damaged packet is sent again by the link itself.

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

/// How a link sends damaged packets again (selective repeat, bounded).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "declare", serde(deny_unknown_fields))]
pub struct ArqConfig {
    /// How often a packet is sent again at most, 0 to 255.
    #[cfg_attr(feature = "declare", schemars(example = 3))]
    pub retries: u8,
    /// From the end of a damaged attempt to the earliest start of the next: the time of the feedback.
    #[cfg_attr(feature = "declare", schemars(example = 8_000_000))]
    pub delay: Duration,
    /// Whether the far end holds packets until all that were sent before them have arrived or are given up.
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
/// The sending end learns of damage a fixed time after the attempt has left, and sends the packet again as soon as the
/// transmitter is free then, before any new packet. A packet that was damaged `retries` + 1 times is given up. The
/// receiving end delivers as packets come, or in the order of their first attempts.
///
/// The feedback takes the same time for all, so packets become due for repetition in the order in which their attempts left:
/// a queue is enough. Nothing is allocated for a packet beyond the longest such queue.
#[derive(Clone, Debug)]
pub struct Arq<P> {
    config: ArqConfig,
    next_number: u32,
    /// Damaged packets, with when their senders learn of it, which never decreases.
    waiting: VecDeque<(Timestamp, Attempt, P)>,
    resequencer: Option<Resequencer<P>>,
}

/// One transmission of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Number of the packet in the order of first attempts; starts over at 2³².
    number: u32,
    /// How often the packet was sent before.
    repeats: u8,
}

impl Attempt {
    /// Whether the packet was sent before.
    pub const fn is_repeat(self) -> bool {
        self.repeats > 0
    }
}

impl<P> Arq<P> {
    /// A link on which nothing was sent so far.
    pub fn new(config: ArqConfig) -> Self {
        Self {
            config,
            next_number: 0,
            waiting: VecDeque::new(),
            resequencer: config.in_order.then(Resequencer::default),
        }
    }

    /// A packet is sent for the first time.
    pub fn first_attempt(&mut self) -> Attempt {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        Attempt { number, repeats: 0 }
    }

    /// The last bit of an attempt left at `departs`, damaged. Calls come in time order. Gives the packet back if it was
    /// sent as often as the link tries: it is lost.
    pub fn on_damage(&mut self, departs: Timestamp, attempt: Attempt, packet: P) -> Option<P> {
        if attempt.repeats == self.config.retries {
            return Some(packet);
        }
        let again = Attempt { repeats: attempt.repeats + 1, ..attempt };
        self.waiting.push_back((departs + self.config.delay, again, packet));
        None
    }

    /// When a packet is to be sent again; [`Timestamp::NEVER`] when none is.
    pub fn next_repeat(&self) -> Timestamp {
        self.waiting.front().map_or(Timestamp::NEVER, |&(due, ..)| due)
    }

    /// The packet that is to be sent again at `now`.
    pub fn repeat(&mut self, now: Timestamp) -> Option<(Attempt, P)> {
        if self.next_repeat() > now {
            return None;
        }
        self.waiting.pop_front().map(|(_, attempt, packet)| (attempt, packet))
    }

    /// An attempt reaches the far end, with its packet if it is undamaged. What is delivered now, if anything: ask
    /// [`Arq::release`] for more.
    pub fn receive(&mut self, attempt: Attempt, packet: Option<P>) -> Option<P> {
        let Some(resequencer) = &mut self.resequencer else { return packet };
        if packet.is_none() && attempt.repeats < self.config.retries {
            return None;
        }
        resequencer.receive(attempt.number, packet);
        resequencer.release()
    }

    /// A packet that was held for others before it, and is held no more.
    pub fn release(&mut self) -> Option<P> {
        self.resequencer.as_mut().and_then(Resequencer::release)
    }

    /// Whether [`Arq::release`] would give a packet.
    pub fn can_release(&self) -> bool {
        self.resequencer.as_ref().is_some_and(Resequencer::can_release)
    }

    /// Packets that wait for their repetition, or arrived and are held.
    pub fn packets(&self) -> u64 {
        self.waiting.len() as u64 + self.resequencer.as_ref().map_or(0, Resequencer::held)
    }
}
