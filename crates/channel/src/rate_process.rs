//! Transmission rates over time.

use airpath_model::{Rate, Timestamp, Transmission};

use crate::{InvalidChannel, Opportunities, Piecewise, Schedule, SteadyRate, UniformRate};

/// The transmission rate over time. Copies made before the first call behave identically.
///
/// The calls of one copy must be in time order.
#[derive(Clone, Debug)]
pub enum RateProcess {
    /// Every packet leaves at once.
    Unlimited,
    /// A constant rate.
    Steady(SteadyRate),
    /// Rates known in advance: stepwise or recorded.
    Schedule(Piecewise<Schedule>),
    /// A new random rate for each interval.
    Uniform(Piecewise<UniformRate>),
    /// Recorded packet-delivery opportunities.
    Opportunities(Opportunities),
}

impl RateProcess {
    /// Creates a constant rate, greater than zero.
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

    /// Returns the process for a run that ends at `end`: packets that leave long after it may be reported as
    /// never leaving.
    #[must_use]
    pub fn until(self, end: Timestamp) -> Self {
        match self {
            Self::Schedule(process) => Self::Schedule(process.until(end)),
            Self::Uniform(process) => Self::Uniform(process.until(end)),
            other => other,
        }
    }

    /// Returns the time at which the last bit of a packet has left; [`Timestamp::NEVER`] if it does not
    /// leave.
    // Most links have a constant rate, which is not worth a call.
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

    /// Returns the rate of a process with a constant rate.
    pub const fn steady(&self) -> Option<SteadyRate> {
        match self {
            Self::Unlimited => Some(SteadyRate::new(Rate::UNLIMITED)),
            Self::Steady(process) => Some(SteadyRate::new(process.rate())),
            _ => None,
        }
    }

    /// Returns the bits offered since the last query, up to `until`, which must not be [`Timestamp::NEVER`];
    /// see [`airpath_model::Channel::offered_bits`]. Do not call [`RateProcess::departs`] on the same copy:
    /// both advance its time.
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
