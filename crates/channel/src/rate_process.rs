//! How fast bits leave.

use alloc::sync::Arc;

use airpath_model::{Duration, Rate, Timestamp, Transmission};

use crate::{InvalidChannel, Opportunities, Piecewise, Schedule, ScheduleEnd, Step, UniformRate};

/// How fast bits leave. Copies taken before the first call behave alike.
///
/// Calls of one copy come in time order.
#[derive(Clone, Debug)]
pub enum RateProcess {
    /// Every packet leaves at once.
    Unlimited,
    /// Rates known beforehand: constant, stepwise or recorded.
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
        Schedule::new(Arc::new([Step { start: Duration::ZERO, rate }]), ScheduleEnd::Hold).map(Self::from)
    }

    /// When the last bit of a packet has left; [`Timestamp::NEVER`] when it does not leave.
    #[inline]
    pub fn departs(&mut self, transmission: &Transmission) -> Timestamp {
        if let Self::Schedule(process) = self
            && let Some(departs) = process.departs_at_last_rate(transmission)
        {
            return departs;
        }
        self.departs_after_all(transmission)
    }

    fn departs_after_all(&mut self, transmission: &Transmission) -> Timestamp {
        if !transmission.start.is_scheduled() {
            return Timestamp::NEVER;
        }
        match self {
            Self::Unlimited => transmission.start,
            Self::Schedule(process) => process.departs(transmission),
            Self::Uniform(process) => process.departs(transmission),
            Self::Opportunities(process) => process.departs(transmission),
        }
    }

    /// Bits offered since the last question, up to `until`, which must not be [`Timestamp::NEVER`]; see
    /// [`airpath_model::Channel::offered_bits`]. A copy that is asked this must not be asked for
    /// [`RateProcess::departs`] as well: both move through time.
    pub fn offered_bits(&mut self, until: Timestamp) -> Option<f64> {
        match self {
            Self::Unlimited => None,
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
