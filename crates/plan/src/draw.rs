//! Numbers of a plan that are fixed or random.

use airpath_model::{Duration, RandomStream, Timestamp};

use crate::plan::{Draw, FlowPlan};

impl FlowPlan {
    /// Returns the start and stop of the flow in the run with that seed; the stop is [`Timestamp::NEVER`] if
    /// the flow does not stop.
    pub fn span(&self, seed: u64) -> (Timestamp, Timestamp) {
        let stream = |part: &str| RandomStream::new(seed, &format!("flow/{}/{part}", self.name));
        let start = self.start_ns.instant(&mut stream("start"));
        let stop = self.stop_ns.map_or(Timestamp::NEVER, |stop| stop.instant(&mut stream("stop")));
        (start, stop)
    }
}

impl Draw {
    /// Samples a value. A constant consumes nothing from the stream.
    pub fn value(self, stream: &mut RandomStream) -> f64 {
        match self {
            Self::Constant { value } => value,
            Self::Uniform { low, high } => stream.uniform(low, high),
            Self::Exponential { mean } => stream.exponential(mean),
        }
    }

    /// Samples a span given in nanoseconds.
    pub fn duration(self, stream: &mut RandomStream) -> Duration {
        // A float-to-integer `as` saturates and maps NaN to zero.
        Duration::from_nanos((self.value(stream) + 0.5) as u64)
    }

    /// Samples an instant given in nanoseconds since the start of the run.
    pub fn instant(self, stream: &mut RandomStream) -> Timestamp {
        Timestamp::ZERO + self.duration(stream)
    }

    /// Samples a whole number of at least one.
    pub fn at_least_one(self, stream: &mut RandomStream) -> u64 {
        ((self.value(stream) + 0.5) as u64).max(1)
    }

    /// Returns the lower bound of the samples; zero for the exponential distribution.
    pub fn low(self) -> f64 {
        match self {
            Self::Constant { value } => value,
            Self::Uniform { low, .. } => low,
            Self::Exponential { .. } => 0.0,
        }
    }

    /// Returns whether this is a valid distribution of non-negative numbers.
    pub fn is_valid(self) -> bool {
        match self {
            Self::Constant { value } => value.is_finite() && value >= 0.0,
            Self::Uniform { low, high } => low.is_finite() && high.is_finite() && 0.0 <= low && low <= high,
            Self::Exponential { mean } => mean.is_finite() && mean >= 0.0,
        }
    }
}
