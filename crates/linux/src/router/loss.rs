//! Losses in bursts, worked out here for whole packets and drawn in the kernel.

use airpath_channel::{
    AirChain, Antennas, BitClock, CodeRate, GilbertElliott, InvalidChannel, PacketOutcomes, Psk,
    TwoStateFading,
};
use serde::Deserialize;

use crate::units::Fraction;

/// Sizes are taken in classes of that many bytes (`SIZE_CLASS` of the program).
pub const SIZE_CLASS: u64 = 16;

/// Classes of the program's table (`SIZE_CLASSES`): up to 1536 bytes.
pub const SIZE_CLASSES: usize = 97;

/// A Gilbert-Elliott chain that loses packets, in the words of a scenario's `loss`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossConfig {
    /// Phase-shift keying over fading: error probabilities from signal-to-noise ratios.
    Fading {
        /// How bits become symbols.
        #[serde(default)]
        modulation: Psk,
        /// Mean signal-to-noise ratio of a symbol for each receive antenna in the good state, dB.
        snr: f64,
        /// How much less it is in the bad state, dB.
        #[serde(default = "ten")]
        bad_snr_drop: f64,
        /// Transmit x receive antennas.
        #[serde(default)]
        antennas: Antennas,
        /// Power of the direct path over that of the scattered ones; 0 is Rayleigh fading.
        #[serde(default)]
        rician_k: f64,
        /// The probability of staying good.
        #[serde(default = "gamma")]
        gamma: f64,
        /// The probability of staying bad.
        #[serde(default = "beta")]
        beta: f64,
        /// What a step of the chain is: `bit` or `symbol`.
        #[serde(default = "bit")]
        clock: Clock,
        /// Reed-Solomon code of the link.
        code_rate: Option<Fraction>,
    },
    /// Gilbert's chain: the good state loses nothing, the bad one everything.
    Gilbert {
        /// The share of damaged steps.
        mean_loss: f64,
        /// The mean number of damaged steps in a row.
        mean_burst: f64,
    },
    /// The chain itself.
    GilbertElliott {
        /// The probability of staying good.
        gamma: f64,
        /// The probability of staying bad.
        beta: f64,
        /// The error probability of the good state.
        #[serde(default)]
        eps_good: f64,
        /// The error probability of the bad state.
        #[serde(default = "one")]
        eps_bad: f64,
        /// What a step of the chain is.
        #[serde(default)]
        clock: Clock,
        /// Reed-Solomon code of the link; not for the clock `packet`.
        code_rate: Option<Fraction>,
    },
}

// The defaults of the scenario language.
const fn ten() -> f64 {
    10.0
}
const fn gamma() -> f64 {
    0.99875
}
const fn beta() -> f64 {
    0.875
}
const fn one() -> f64 {
    1.0
}
const fn bit() -> Clock {
    Clock::Bit
}

/// On which side of the device packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// Before its queue: what is lost takes no time on the link.
    #[default]
    Egress,
    /// Where packets come in: at the far end of a link, as the air would.
    Ingress,
}

/// What a step of the chain is; it stands still while nothing is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// A bit.
    Bit,
    /// A byte, which is a symbol of the code.
    Symbol,
    /// A packet.
    #[default]
    Packet,
}

/// One row of the program's table: probabilities times 2^32 by the state before (good, bad).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// That the packet is lost.
    pub lost: [u64; 2],
    /// That the chain is bad behind it, given that it is lost.
    pub bad_if_lost: [u64; 2],
    /// The same, given that it arrives.
    pub bad_if_arrived: [u64; 2],
}

impl LossConfig {
    /// The chain of the channel crate.
    pub fn chain(&self) -> Result<GilbertElliott, InvalidChannel> {
        match *self {
            Self::Gilbert { mean_loss, mean_burst } => GilbertElliott::from_means(mean_loss, mean_burst),
            Self::GilbertElliott { gamma, beta, eps_good, eps_bad, .. } => {
                GilbertElliott::new(gamma, beta, eps_good, eps_bad)
            }
            Self::Fading { modulation, snr, bad_snr_drop, antennas, rician_k, gamma, beta, .. } => {
                let (snr_db, bad_snr_drop_db) = (snr, bad_snr_drop);
                TwoStateFading { modulation, snr_db, bad_snr_drop_db, antennas, rician_k }.chain(gamma, beta)
            }
        }
    }

    /// The table of the program. A class has the outcomes of its largest size.
    pub fn outcomes(&self) -> Result<Vec<Outcome>, InvalidChannel> {
        let chain = self.chain()?;
        let (clock, code) = match *self {
            Self::Gilbert { .. } => (Clock::Packet, None),
            Self::GilbertElliott { clock, code_rate, .. } | Self::Fading { clock, code_rate, .. } => {
                (clock, code_rate)
            }
        };
        if clock == Clock::Packet && code.is_some() {
            return Err(InvalidChannel::CodedPackets);
        }
        let rate = code.map(|Fraction(data, all)| CodeRate::new(data, all)).transpose()?;
        let clock = match clock {
            Clock::Packet => {
                let step = chain.step();
                let outcome = Outcome::new(&PacketOutcomes { arrived: step.clean, lost: step.damaged });
                return Ok(vec![outcome; SIZE_CLASSES]);
            }
            Clock::Bit => BitClock::Bit,
            Clock::Symbol => BitClock::Symbol,
        };
        let air = AirChain { chain, clock };
        let of = |size| rate.map_or_else(|| air.uncoded(size), |rate| air.coded(size, rate));
        Ok((0..SIZE_CLASSES as u64).map(|class| Outcome::new(&of(class.max(1) * SIZE_CLASS))).collect())
    }
}

impl Outcome {
    fn new(packet: &PacketOutcomes) -> Self {
        let fixed = |probability: f64| (probability * 4_294_967_296.0 + 0.5) as u64;
        let bad = |row: [f64; 2]| {
            let sum = row[0] + row[1];
            if sum > 0.0 { fixed(row[1] / sum) } else { 0 }
        };
        Self {
            lost: packet.lost.map(|row| fixed(row[0] + row[1])),
            bad_if_lost: packet.lost.map(bad),
            bad_if_arrived: packet.arrived.map(bad),
        }
    }
}
