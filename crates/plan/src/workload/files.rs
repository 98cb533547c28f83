//! What is sent over transport connections.

use airpath_model::{Bytes, Duration, RandomStream};

use crate::plan::Draw;

/// What is sent over the connections of one flow.
#[derive(Debug)]
pub enum Files {
    /// One connection that always has more to send.
    Endless,
    /// One file.
    One {
        /// Its size.
        size: Bytes,
    },
    /// File after file, each over a fresh connection, with a pause between.
    Repeated {
        /// Size of each, bytes.
        size: Draw,
        /// Pause after each, nanoseconds.
        pause: Draw,
        /// Where both are drawn from.
        stream: RandomStream,
    },
}

impl Files {
    /// The size of the next connection's data; [`Bytes::MAX`] when it does not end.
    pub fn next_size(&mut self) -> Bytes {
        match self {
            Self::Endless => Bytes::MAX,
            Self::One { size } => *size,
            Self::Repeated { size, stream, .. } => Bytes::new(size.at_least_one(stream)),
        }
    }

    /// How long to wait after a file before the next one; `None` when there is no next.
    pub fn next_pause(&mut self) -> Option<Duration> {
        match self {
            Self::Endless | Self::One { .. } => None,
            Self::Repeated { pause, stream, .. } => Some(pause.duration(stream)),
        }
    }

    /// Whether its data has no end.
    pub const fn is_endless(&self) -> bool {
        matches!(self, Self::Endless)
    }
}
