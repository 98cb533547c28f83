//! The data sent over transport connections.

use airpath_model::{Bytes, Duration, RandomStream};

use crate::plan::Draw;

/// The data sent over the connections of one flow.
#[derive(Debug)]
pub enum Files {
    /// One connection that always has more to send.
    Endless,
    /// One file.
    One {
        /// Its size.
        size: Bytes,
    },
    /// Files one after the other, each over a new connection, with a pause between.
    Repeated {
        /// Size of each, bytes.
        size: Draw,
        /// Pause after each, nanoseconds.
        pause: Draw,
        /// The random stream of both.
        stream: RandomStream,
    },
    /// Writes to one connection at intervals.
    Writes {
        /// Size of each, bytes.
        size: Draw,
        /// Time from each to the next, nanoseconds.
        interval: Draw,
        /// The random stream of the sizes.
        sizes: RandomStream,
        /// The random stream of the intervals.
        intervals: RandomStream,
    },
}

impl Files {
    /// Returns the size of the next connection's data, or of the next write to the connection; [`Bytes::MAX`] if
    /// it has no end.
    pub fn next_size(&mut self) -> Bytes {
        match self {
            Self::Endless => Bytes::MAX,
            Self::One { size } => *size,
            Self::Repeated { size, stream, .. } => Bytes::new(size.at_least_one(stream)),
            Self::Writes { size, sizes, .. } => Bytes::new(size.at_least_one(sizes)),
        }
    }

    /// Returns the pause between a file and the next one; `None` if there is no next one.
    pub fn next_pause(&mut self) -> Option<Duration> {
        match self {
            Self::Endless | Self::One { .. } | Self::Writes { .. } => None,
            Self::Repeated { pause, stream, .. } => Some(pause.duration(stream)),
        }
    }

    /// Returns the time from a write to the next one on the same connection, at least 1 ns; `None` if all data of
    /// a connection is there from the start.
    pub fn next_interval(&mut self) -> Option<Duration> {
        match self {
            Self::Writes { interval, intervals, .. } => {
                Some(interval.duration(intervals).max(Duration::from_nanos(1)))
            }
            Self::Endless | Self::One { .. } | Self::Repeated { .. } => None,
        }
    }

    /// Returns whether a connection's data has no end.
    pub const fn is_endless(&self) -> bool {
        matches!(self, Self::Endless | Self::Writes { .. })
    }
}
