//! A new random rate for each interval.

use airpath_model::{Duration, RandomStream, Rate, Timestamp};

use crate::{InvalidChannel, RateSegments, Segment};

/// A rate drawn uniformly for each interval of fixed length, without end.
///
/// Every rate is one sample of the stream, taken at the first access to its interval, so equal streams yield
/// equal rates for any traffic.
#[derive(Clone, Debug)]
pub struct UniformRate {
    low: Rate,
    high: Rate,
    hold: Duration,
    initial: Option<Rate>,
    stream: RandomStream,
    end: Timestamp,
}

impl UniformRate {
    /// Creates rates from `low` to `high`, each for `hold`. The first interval uses `initial`, if given,
    /// instead of a sample; that rate may be outside the range.
    pub fn new(
        low: Rate,
        high: Rate,
        hold: Duration,
        initial: Option<Rate>,
        stream: RandomStream,
    ) -> Result<Self, InvalidChannel> {
        if hold.is_zero() {
            return Err(InvalidChannel::NoHold);
        }
        if low > high {
            return Err(InvalidChannel::EmptyRange);
        }
        if high == Rate::UNLIMITED || initial == Some(Rate::UNLIMITED) {
            return Err(InvalidChannel::UnlimitedRate);
        }
        if high == Rate::ZERO {
            return Err(InvalidChannel::NeverSends);
        }
        Ok(Self { low, high, hold, initial, stream, end: Timestamp::ZERO })
    }
}

impl RateSegments for UniformRate {
    fn next_segment(&mut self) -> Option<Segment> {
        let rate = self.initial.take().unwrap_or_else(|| {
            Rate::from_bps_f64(self.stream.uniform(self.low.as_bps_f64(), self.high.as_bps_f64()))
        });
        self.end += self.hold;
        Some(Segment { rate, until: self.end })
    }
}
