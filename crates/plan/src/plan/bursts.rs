//! Losses in bursts.

use airpath_channel::{Antennas, Psk};
use serde::{Deserialize, Serialize};

/// A Gilbert-Elliott chain that damages packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurstPlan {
    /// The chain. Its probabilities are those of one step of the clock.
    pub chain: ChainPlan,
    /// What a step of the chain is.
    pub clock: ClockPlan,
}

/// A chain, in one of the ways in which it is given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChainPlan {
    /// The chain itself.
    Probabilities {
        /// gamma: the probability of staying good.
        stay_good: f64,
        /// beta: the probability of staying bad.
        stay_bad: f64,
        /// The error probability of the good state.
        error_good: f64,
        /// The error probability of the bad state.
        error_bad: f64,
    },
    /// Gilbert's chain: the good state never damages, the bad one always does.
    Means {
        /// The share of damaged steps.
        loss: f64,
        /// The mean number of damaged steps in a row.
        burst: f64,
    },
    /// The parameters of `netem`.
    Netem {
        /// From good to bad.
        p: f64,
        /// From bad to good.
        r: f64,
        /// 1-h: the error probability of the bad state.
        loss_bad: f64,
        /// 1-k: the error probability of the good state.
        loss_good: f64,
    },
    /// Phase-shift keying over fading: the error probabilities from signal-to-noise ratios.
    Fading {
        /// gamma: the probability of staying good.
        stay_good: f64,
        /// beta: the probability of staying bad.
        stay_bad: f64,
        /// How bits become symbols.
        modulation: Psk,
        /// Mean signal-to-noise ratio of a symbol for each receive antenna in the good state, dB.
        snr_db: f64,
        /// How much less it is in the bad state, dB.
        bad_snr_drop_db: f64,
        /// Transmit and receive antennas.
        antennas: Antennas,
        /// Power of the direct path over the mean power of the scattered ones; 0 is Rayleigh fading.
        rician_k: f64,
    },
}

/// What a step of the chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClockPlan {
    /// A transmitted bit; the chain stands still while nothing is sent.
    Bit {
        /// Link-layer coding.
        coding: CodingPlan,
        /// Walk through every bit instead of drawing once for each packet: slow, for checking.
        step_by_step: bool,
    },
    /// A transmitted byte, which is a symbol of the code; the chain stands still while nothing is sent.
    Symbol {
        /// Link-layer coding.
        coding: CodingPlan,
        /// Walk through every byte instead of drawing once for each packet: slow, for checking.
        step_by_step: bool,
    },
    /// A transmitted packet; the chain stands still while nothing is sent.
    Packet,
    /// A span of time: sojourns are exponential, with means of `step_ns` times the mean numbers of steps.
    Time {
        /// The span, nanoseconds.
        step_ns: u64,
    },
}

/// Reed-Solomon codes over bytes, as (data symbols, symbols); absent is no coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodingPlan {
    /// The rate for packets above `small_bytes`.
    pub data: Option<(u32, u32)>,
    /// The rate for packets of at most `small_bytes`.
    pub acks: Option<(u32, u32)>,
    /// The largest packet that is coded as acknowledgments are.
    pub small_bytes: u64,
    /// Whether parity takes time on the link; else the rate of the link is that of the data.
    pub parity_takes_time: bool,
}
