//! Errors in the parameters of a channel.

use thiserror::Error;

/// The reason why parameters were rejected.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum InvalidChannel {
    /// The series is empty.
    #[error("the series is empty")]
    Empty,
    /// The first step does not start at zero, so that the rate before it is unknown.
    #[error("the first step must start at 0")]
    LateStart,
    /// A step does not start after the previous one, or an opportunity is earlier than the previous one.
    #[error("entry {index} (counted from 0) is out of order")]
    OutOfOrder {
        /// Its index in the series, from zero.
        index: usize,
    },
    /// The schedule ends or repeats before its last step has held for any time.
    #[error("the end must come after the start of the last step")]
    EarlyEnd,
    /// No packet could ever leave.
    #[error("nothing can ever be sent")]
    NeverSends,
    /// One rate of several is unlimited; use an unlimited channel.
    #[error("a rate that varies must stay finite")]
    UnlimitedRate,
    /// The trace has zero duration.
    #[error("the last opportunity must come after time 0")]
    NoDuration,
    /// The recording is missing, or not one of packet-delivery opportunities.
    #[error("its trace is not one of packet-delivery opportunities")]
    NotOpportunities,
    /// The recording is missing, or not a rate log.
    #[error("its trace is not a rate log")]
    NotARateLog,
    /// The size of an opportunity is zero.
    #[error("the size of an opportunity must be greater than 0")]
    NoSize,
    /// The holding time is zero.
    #[error("the holding time must be greater than 0")]
    NoHold,
    /// The lower end of a range is above its upper end.
    #[error("the lower end of the range is above the upper end")]
    EmptyRange,
    /// A probability is outside 0 to 1.
    #[error("{0} is not a probability")]
    NotAProbability(f64),
    /// The mean time in a state is so short that a run would change state too often.
    #[error("the mean time in each state must be at least 1 us")]
    ShortSojourn,
    /// The code rate is outside its range, or so low that a codeword of 255 symbols contains no data.
    #[error("found {0}; accepted: a code rate from 1/255 to 1")]
    NotACodeRate(f64),
}
