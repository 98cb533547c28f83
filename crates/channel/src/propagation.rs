//! From leaving to arriving.

use airpath_model::{Duration, RandomStream, Timestamp};

use crate::InvalidChannel;

/// The time that packets travel: a fixed delay and, where wanted, jitter.
///
/// Packets never overtake: one that would arrive before the packet sent earlier arrives together with it.
#[derive(Clone, Debug)]
pub struct Propagation {
    delay: Duration,
    jitter: Option<(Jitter, RandomStream)>,
    last_arrival: Timestamp,
}

impl Propagation {
    /// Every packet travels for `delay`.
    pub fn new(delay: Duration) -> Self {
        Self { delay, jitter: None, last_arrival: Timestamp::ZERO }
    }

    /// Every packet travels for `delay` and a time that is drawn from `stream`.
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

    /// The shortest time that a packet travels.
    pub const fn shortest(&self) -> Duration {
        self.delay
    }

    /// When the packet arrives that has left at `departs`. Asked once for each packet, in the order of leaving.
    pub fn arrival(&mut self, departs: Timestamp) -> Timestamp {
        let jitter = self.jitter.as_mut().map_or(Duration::ZERO, |(jitter, stream)| jitter.draw(stream));
        self.last_arrival = self.last_arrival.max(departs + self.delay + jitter);
        self.last_arrival
    }
}

/// Extra delay, drawn for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Uniform on [`low`, `high`); equal ends give a constant.
    Uniform {
        /// The least.
        low: Duration,
        /// The most.
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
