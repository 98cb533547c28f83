//! The interface of channels, which decide when a transmission ends and whether the packet arrives.

use core::fmt::Debug;

use crate::{Bytes, Timestamp};

/// The effect of the medium (radio or wire) on the packets of one direction of a link.
///
/// Calls come in time order, and transmissions do not overlap: `start` is never before the last `departs`. An
/// idle link makes no calls, so a channel advances its state by itself at the next call.
pub trait Channel: Debug + Send {
    /// Sends one packet.
    fn transmit(&mut self, transmission: &Transmission) -> Passage;

    /// Returns the bits that the channel offered from the `until` of the last call (for the first call: the
    /// start of the run) to `until`, or `None` for unlimited channels. Calls come in time order.
    ///
    /// This is the capacity in result tables: bytes of delivery opportunities for a trace, the integral of
    /// the rate otherwise. Losses are not subtracted.
    fn offered_bits(&mut self, until: Timestamp) -> Option<f64>;

    /// Returns the number of corrupted packets and its expectation, or `None` for channels that do not count
    /// them.
    fn damage(&self) -> Option<Damage> {
        None
    }
}

/// Number of corrupted packets, with its expectation. Each packet contributes the probability of its
/// corruption at the time of its transmission, conditional on the outcomes of all earlier packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damage {
    /// Packets sent.
    pub packets: u64,
    /// Corrupted packets.
    pub damaged: u64,
    /// The sum of the corruption probabilities.
    pub expected: f64,
    /// The sum of the variances of the outcomes, p (1 - p) each.
    pub variance: f64,
}

impl Damage {
    /// Counts a packet whose corruption had the given probability.
    pub fn count(&mut self, probability: f64, damaged: bool) {
        self.packets += 1;
        self.damaged += u64::from(damaged);
        self.expected += probability;
        self.variance += probability * (1.0 - probability);
    }
}

/// One packet that is about to be transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The earliest time at which its first bit can leave: the link is free and the packet is present.
    pub start: Timestamp,
    /// Its size on the wire.
    pub size: Bytes,
    /// Whether the packet waited during the transmission of the previous one. The link was then busy up to
    /// `start`, and the packet may share the rest of a delivery opportunity.
    pub continues: bool,
}

/// The outcome of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When the last bit leaves; [`Timestamp::NEVER`] if the channel ends earlier.
    pub departs: Timestamp,
    /// Whether the packet arrives uncorrupted.
    pub arrives: bool,
}
