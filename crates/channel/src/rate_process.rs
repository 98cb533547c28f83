//! How fast bits leave.

use airpath_model::{Rate, Timestamp, Transmission};

use crate::{InvalidChannel, Opportunities, Piecewise, Schedule, SteadyRate, UniformRate};

/// How fast bits leave. Copies taken before the first call behave alike.
///
/// Calls of one copy come in time order.
#[derive(Clone, Debug)]
pub enum RateProcess {
    /// Every packet leaves at once.
    Unlimited,
    /// One rate.
    Steady(SteadyRate),
    /// Rates known beforehand: stepwise or recorded.
    Schedule(Piecewise<Schedule>),
    /// A fresh random rate for each interval.
    Uniform(Piecewise<UniformRate>),
    /// Recorded packet-delivery opportunities.
    Opportunities(Opportunities),
}

impl RateProcess {
    /// One rate, greater than zero, forever.
    pub fn constant(rate: Rate) -> Result<Self, InvalidChannel> {
        if rate == Rate::UNLIMITED {
            return Ok(Self::Unlimited);
        }
        if rate == Rate::ZERO {
            Err(InvalidChannel::NeverSends)
        } else {
            Ok(Self::Steady(SteadyRate::new(rate)))
        }
    }

    /// The same where nobody asks for what happens after `end`: what leaves long after it may be said never to leave.
    #[must_use]
    pub fn until(self, end: Timestamp) -> Self {
        match self {
            Self::Schedule(process) => Self::Schedule(process.until(end)),
            Self::Uniform(process) => Self::Uniform(process.until(end)),
            other => other,
        }
    }

    /// When the last bit of a packet has left; [`Timestamp::NEVER`] when it does not leave.
    // One rate is what most links have, and is not worth a call.
    #[inline]
    pub fn departs(&mut self, transmission: &Transmission) -> Timestamp {
        if let Self::Steady(process) = self {
            return process.departs(transmission);
        }
        self.departs_otherwise(transmission)
    }

    fn departs_otherwise(&mut self, transmission: &Transmission) -> Timestamp {
        if !transmission.start.is_scheduled() {
            return Timestamp::NEVER;
        }
        match self {
            Self::Unlimited => transmission.start,
            Self::Steady(process) => process.departs(transmission),
            Self::Schedule(process) => process.departs(transmission),
            Self::Uniform(process) => process.departs(transmission),
            Self::Opportunities(process) => process.departs(transmission),
        }
    }

    /// The one rate of a process that has only one.
    pub const fn steady(&self) -> Option<SteadyRate> {
        match self {
            Self::Unlimited => Some(SteadyRate::new(Rate::UNLIMITED)),
            Self::Steady(process) => Some(SteadyRate::new(process.rate())),
            _ => None,
        }
    }

    /// Bits offered since the last question, up to `until`, which must not be [`Timestamp::NEVER`]; see
    /// [`airpath_model::Channel::offered_bits`]. A copy that is asked this must not be asked for
    /// [`RateProcess::departs`] as well: both move through time.
    pub fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        match self {
            Self::Unlimited => None,
            Self::Steady(process) => process.offered_bits(until),
            Self::Schedule(process) => Some(process.offered_bits(until)),
            Self::Uniform(process) => Some(process.offered_bits(until)),
            Self::Opportunities(process) => Some(process.offered_bits(until)),
        }
    }
}

impl From<Schedule> for RateProcess {
    fn from(schedule: Schedule) -> Self {
        Self::Schedule(Piecewise::new(schedule))
    }
}

impl From<UniformRate> for RateProcess {
    fn from(uniform: UniformRate) -> Self {
        Self::Uniform(Piecewise::new(uniform))
    }
}

impl From<Opportunities> for RateProcess {
    fn from(opportunities: Opportunities) -> Self {
        Self::Opportunities(opportunities)
    }
}
