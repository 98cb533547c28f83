//! Burst losses: a chain and its clock.

use airpath_model::{Bytes, Duration};

use crate::{AirChain, BitClock, Coding, GilbertElliott, PacketOutcomes};

/// A Gilbert-Elliott chain that corrupts packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// The chain. Its probabilities are those of one step of the clock.
    pub chain: GilbertElliott,
    /// The unit of a step of the chain.
    pub clock: Clock,
}

/// The unit of a step of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A transmitted bit or byte; the chain does not move while nothing is sent.
    Air {
        /// Bits or bytes.
        clock: BitClock,
        /// Link-layer coding.
        coding: Coding,
        /// Whether to simulate every step instead of sampling once per packet: slow, for verification.
        step_by_step: bool,
    },
    /// A transmitted packet; the chain does not move while nothing is sent.
    Packet,
    /// A span of time: sojourn times are exponential, with means of this span times the mean numbers of
    /// steps.
    Time(Duration),
}

impl Bursts {
    /// Returns the exact long-run probability that a packet of this size is corrupted: the mean over the
    /// states in which a packet may find the chain.
    pub fn loss(&self, size: Bytes) -> f64 {
        // With any other clock, a packet finds the chain in its stationary state, and corruption is sampled
        // once.
        let outcomes = self.outcomes(size);
        outcomes.map_or_else(|| self.chain.mean_error(), |outcomes| outcomes.loss(self.chain.stationary()))
    }

    /// Returns the exact probabilities for a packet of this size, if bits or bytes clock the chain.
    pub fn outcomes(&self, size: Bytes) -> Option<PacketOutcomes> {
        let (air, coding) = self.on_air()?;
        Some(air.outcomes(size.get(), coding.of(size)))
    }

    /// Returns the loss probability if bytes were wrong independently ([`AirChain::independent_loss`]);
    /// `None` for packets that are not coded.
    pub fn independent_loss(&self, size: Bytes) -> Option<f64> {
        let (air, coding) = self.on_air()?;
        coding.of(size).map(|rate| air.independent_loss(size.get(), rate))
    }

    /// Returns the chain with its clock and the coding, if bits or bytes clock it.
    const fn on_air(&self) -> Option<(AirChain, Coding)> {
        match self.clock {
            Clock::Air { clock, coding, .. } => Some((AirChain { chain: self.chain, clock }, coding)),
            Clock::Packet | Clock::Time(_) => None,
        }
    }
}
