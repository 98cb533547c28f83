//! The rates of links over time, as in scenarios and plans.

mod constant;
mod opportunities;
mod rate_log;
mod sequence;
mod steps;
mod uniform;

use alloc::sync::Arc;
use alloc::vec::Vec;

use airpath_model::config::ConfigError;
use airpath_model::declare::{ComponentError, Deserialize, JsonSchema, Serialize, Variants};
use airpath_model::{Bytes, Duration, Rate};

use crate::declare::Rates;
use crate::{InvalidChannel, RateProcess, Step};

pub use constant::ConstantConfig;
pub use opportunities::OpportunitiesConfig;
pub use rate_log::RateLogConfig;
pub use sequence::SequenceConfig;
pub use steps::StepsConfig;
pub use uniform::UniformConfig;

/// The rate of a link over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RatePlan {
    /// No transmission time. Short form: `rate = "unlimited"`.
    Unlimited,
    /// A constant rate. Short form: `rate = "10mbps"`.
    Constant(ConstantConfig),
    /// A schedule of rates, each of which lasts until the next.
    Steps(StepsConfig),
    /// Rates one after the other, each for the same time.
    Sequence(SequenceConfig),
    /// A new rate for each interval, sampled uniformly (EBE journal paper, section IV-A).
    Uniform(UniformConfig),
    /// The packet-delivery opportunities of a trace.
    Opportunities(OpportunitiesConfig),
    /// The rates of a trace.
    RateLog(RateLogConfig),
}

impl RatePlan {
    /// Returns the declaration of the kind.
    fn declared(&self) -> &dyn DeclaredRate {
        match self {
            Self::Unlimited => &Unlimited,
            Self::Constant(config) => config,
            Self::Steps(config) => config,
            Self::Sequence(config) => config,
            Self::Uniform(config) => config,
            Self::Opportunities(config) => config,
            Self::RateLog(config) => config,
        }
    }

    /// Constructs the rate.
    ///
    /// # Errors
    /// A parameter is outside its range, or the run has no such recording.
    pub fn process(&self, facts: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        self.declared().process(facts)
    }

    /// Returns the highest rate; `None` if there is no bound.
    pub fn highest(&self) -> Option<Rate> {
        self.declared().highest()
    }

    /// Returns the times at which the rate may change; `None` if it is unlimited or recorded.
    pub fn changes(&self) -> Option<Changes> {
        self.declared().changes()
    }

    /// Returns the mean in bits per second; `None` if it is unlimited or recorded.
    ///
    /// The mean of a schedule is that over one period if it repeats, and over a run of length `run` otherwise.
    pub fn mean_bps(&self, run: Duration) -> Option<f64> {
        self.declared().mean_bps(run)
    }
}

/// The part of a run that construction needs in addition to the parameters.
#[derive(Clone, Copy, Debug)]
pub struct RateFacts<'a> {
    /// Name of the link.
    pub link: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// The recordings of the run.
    pub recordings: &'a [&'a Recording],
}

/// A trace in the form that links take. Copies share its content.
#[derive(Clone, Debug)]
pub enum Recording {
    /// Packet-delivery opportunities.
    Opportunities {
        /// Nanoseconds since the start of the trace.
        instants: Arc<[u64]>,
        /// The capacity of each opportunity.
        size: Bytes,
    },
    /// Rates, each valid until the next.
    Rates {
        /// The rates.
        steps: Arc<[Step]>,
        /// The length of the trace.
        length: Duration,
    },
}

/// The times at which a rate may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Nanoseconds since the start of a period.
    pub starts: Vec<u64>,
    /// Length of a period in nanoseconds; `None` if the starts do not repeat.
    pub period: Option<u64>,
}

/// The functions of a kind of rate.
trait DeclaredRate {
    /// Checks parameters against each other.
    fn check(&self) -> Result<(), ComponentError> {
        Ok(())
    }

    /// See [`RatePlan::process`].
    fn process(&self, facts: RateFacts<'_>) -> Result<RateProcess, InvalidChannel>;

    /// See [`RatePlan::highest`].
    fn highest(&self) -> Option<Rate> {
        None
    }

    /// See [`RatePlan::changes`].
    fn changes(&self) -> Option<Changes> {
        None
    }

    /// See [`RatePlan::mean_bps`].
    fn mean_bps(&self, _: Duration) -> Option<f64> {
        None
    }
}

/// The kind without parameters.
struct Unlimited;

impl DeclaredRate for Unlimited {
    fn process(&self, _: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        Ok(RateProcess::Unlimited)
    }
}

impl Variants<Rates> for RatePlan {
    fn check(&self) -> Result<(), ComponentError> {
        self.declared().check()
    }

    fn build(&self, (): ()) -> Result<Self, ConfigError> {
        Ok(self.clone())
    }
}
