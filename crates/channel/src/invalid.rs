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
    /// A step of time in which a run would change state too often.
    #[error("the mean time in each state must be at least 1 us")]
    ShortSojourn,
    /// A code rate outside the range, or one at which a codeword of 255 symbols contains no data.
    #[error("found {0}; accepted: a code rate from 1/255 to 1")]
    NotACodeRate(f64),
}
