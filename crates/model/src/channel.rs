//! The door to channels: when what is sent has left, and whether it arrives.

use core::fmt::Debug;

use crate::{Bytes, Timestamp};

/// What the air (or the wire) does to packets of one direction of a link.
///
/// Calls come in time order and transmissions do not overlap: `start` is never before the last `departs`.
/// A silent link makes no calls: a channel catches up in time by itself.
pub trait Channel: Debug + Send {
    /// Sends one packet.
    fn transmit(&mut self, transmission: &Transmission) -> Passage;

    /// The bits that the channel offers from the end of the last such question (the start of the run for the
    /// first) to `until`; questions come in time order. Unlimited channels answer `None`.
    ///
    /// This is the capacity in result tables: bytes of delivery opportunities for a trace, the integral of the
    /// rate otherwise; losses are not subtracted.
    fn offered_bits(&mut self, until: Timestamp) -> Option<f64>;

    /// What it has damaged so far beside what was to be expected; `None` of channels that do not keep it.
    fn damage(&self) -> Option<Damage> {
        None
    }
}

/// How many packets a channel has damaged, and how many it should have: each packet counts with the probability that it
/// had when its turn came, given what had become of all before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damage {
    /// Packets sent.
    pub packets: u64,
    /// Those of them that were damaged.
    pub damaged: u64,
    /// The sum of their probabilities.
    pub expected: f64,
    /// The sum of the variances of their fates, p (1 - p) each.
    pub variance: f64,
}

impl Damage {
    /// A packet is sent that was to be damaged with that probability.
    pub fn count(&mut self, probability: f64, damaged: bool) {
        self.packets += 1;
        self.damaged += u64::from(damaged);
        self.expected += probability;
        self.variance += probability * (1.0 - probability);
    }
}

/// One packet about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When its first bit could leave: the link is free and the packet is there.
    pub start: Timestamp,
    /// Its size on the wire.
    pub size: Bytes,
    /// It waited while the packet before it was sent, so that the link was busy up to `start` and it may share
    /// what is left of a delivery opportunity.
    pub continues: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When its last bit has left; [`Timestamp::NEVER`] when the channel ends before.
    pub departs: Timestamp,
    /// Whether it arrives undamaged.
    pub arrives: bool,
}
