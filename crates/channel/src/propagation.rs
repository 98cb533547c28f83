//! Propagation from departure to arrival.

use airpath_model::{Duration, RandomStream, Timestamp};

use crate::InvalidChannel;

/// The propagation time of packets: a fixed delay and optional jitter.
///
/// Packets never overtake: one that would arrive before an earlier packet arrives together with it.
#[derive(Clone, Debug)]
pub struct Propagation {
    delay: Duration,
    jitter: Option<(Jitter, RandomStream)>,
    last_arrival: Timestamp,
}

impl Propagation {
    /// Creates a propagation with the constant `delay`.
    pub fn new(delay: Duration) -> Self {
        Self { delay, jitter: None, last_arrival: Timestamp::ZERO }
    }

    /// Creates a propagation with `delay` and jitter that is drawn from `stream`.
    pub fn with_jitter(
        delay: Duration,
        jitter: Jitter,
        stream: RandomStream,
    ) -> Result<Self, InvalidChannel> {
        if matches!(jitter, Jitter::Uniform { low, high } if low > high) {
            return Err(InvalidChannel::EmptyRange);
        }
        Ok(Self { delay, jitter: Some((jitter, stream)), last_arrival: Timestamp::ZERO })
    }

    /// Returns the minimum propagation time.
    pub const fn shortest(&self) -> Duration {
        self.delay
    }

    /// Returns the arrival time of the packet that left at `departs`. Call it once for each packet, in order
    /// of departure.
    pub fn arrival(&mut self, departs: Timestamp) -> Timestamp {
        let jitter = self.jitter.as_mut().map_or(Duration::ZERO, |(jitter, stream)| jitter.draw(stream));
        self.last_arrival = self.last_arrival.max(departs + self.delay + jitter);
        self.last_arrival
    }
}

/// Additional delay, drawn for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Uniform on [`low`, `high`); equal ends give a constant.
    Uniform {
        /// The minimum.
        low: Duration,
        /// The maximum.
        high: Duration,
    },
    /// Exponential.
    Exponential {
        /// The mean.
        mean: Duration,
    },
}

impl Jitter {
    fn draw(self, stream: &mut RandomStream) -> Duration {
        match self {
            Self::Uniform { low, high } => stream.uniform_duration(low, high),
            Self::Exponential { mean } => stream.exponential_duration(mean),
        }
    }
}
