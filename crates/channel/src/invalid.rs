//! What cannot be a channel.

use thiserror::Error;

/// Why parameters were refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum InvalidChannel {
    /// A series without entries.
    #[error("the series is empty")]
    Empty,
    /// The first step does not start at zero, so that the rate before it is unknown.
    #[error("the first step must start at 0")]
    LateStart,
    /// A step does not start after the one before it, or an opportunity is earlier than the one before it.
    #[error("entry {index} (counted from 0) is out of order")]
    OutOfOrder {
        /// Its place in the series, from zero.
        index: usize,
    },
    /// The schedule ends or starts over before its last step has held for any time.
    #[error("the end must come after the start of the last step")]
    EarlyEnd,
    /// No packet would ever leave.
    #[error("nothing can ever be sent")]
    NeverSends,
    /// An unlimited rate among others; use an unlimited channel.
    #[error("a rate that varies must stay finite")]
    UnlimitedRate,
    /// A trace that lasts no time.
    #[error("the last opportunity must come after time 0")]
    NoDuration,
    /// Opportunities to send nothing.
    #[error("the size of an opportunity must be greater than 0")]
    NoSize,
    /// Rates that hold for no time.
    #[error("the holding time must be greater than 0")]
    NoHold,
    /// A range with its lower end above its upper end.
    #[error("the lower end of the range is above the upper end")]
    EmptyRange,
    /// A probability outside 0 to 1.
    #[error("{0} is not a probability")]
    NotAProbability(f64),
    /// A signal-to-noise ratio, dB, outside the range in which error rates are computed.
    #[error("signal-to-noise ratios must be from -30 to 100 dB, in both states")]
    Snr(f64),
    /// A Rician factor outside the range in which error rates are computed.
    #[error("the Rician factor must be from 0 to 100")]
    RicianFactor(f64),
    /// A bad state that is better than the good one.
    #[error("the SNR of the bad state must not exceed that of the good state; found a drop of {0} dB")]
    BetterBadState(f64),
    /// A transition so rare that the probability of staying would have lost its digits.
    #[error("found the transition probability {0}; accepted: at least 1e-12")]
    TooRare(f64),
    /// A code over a chain whose steps are packets.
    #[error("a code rate needs the clock `bit` or `symbol`")]
    CodedPackets,
    /// A chain that never leaves its bad state, so that bursts have no end.
    #[error("the probability of leaving the bad state must be above 0")]
    FrozenChain,
    /// No two-state chain with an undamaged good state has this loss in bursts of this length.
    #[error(
        "there is no chain with mean loss {loss} in bursts of mean length {burst}: the loss must be below 1, the burst at least 1 and at least loss / (1 - loss)"
    )]
    ImpossibleBurst {
        /// The mean loss that was asked for.
        loss: f64,
        /// The mean length of bursts that was asked for, in steps.
        burst: f64,
    },
    /// A step of time in which a run would change state too often.
    #[error("the mean time in each state must be at least 1 us")]
    ShortSojourn,
    /// A code rate outside 0 < k/b <= 1, or one at which a codeword of 255 symbols holds no data.
    #[error("{numerator}/{denominator} is not a code rate: at least 1/255, at most 1")]
    NotACodeRate {
        /// Data symbols.
        numerator: u32,
        /// Symbols.
        denominator: u32,
    },
}
