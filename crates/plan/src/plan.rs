//! The resolved scenario: exactly the information that a run needs, in integers with fixed units.
//!
//! The front end resolves the scenario language (TOML with units, named topologies, defaults) into this form.
//! The JSON text of a plan is the interface between the two, and part of a result's provenance. Links and
//! flows are lists; all references to them are indices. The field `format` is the version of this form, and
//! the engine rejects a plan of any other version.

mod controller;
mod estimator;
mod flow;
mod link;
mod queue;

use serde::{Deserialize, Serialize};

pub use airpath_channel::rates::{
    Changes, ConstantConfig, OpportunitiesConfig, RateLogConfig, RatePlan, SequenceConfig, StepsConfig,
    UniformConfig,
};
pub use airpath_estimate::{AckRateConfig, FilterConfig, SamplerConfig, Start, VirtualSamples};
pub use airpath_model::declare::ComponentPlan;
pub use controller::{ControllerPlan, QuinnAlgorithm};
pub use estimator::EstimatorPlan;
pub use flow::{
    FlowPlan, LossDetectionPlan, RecoveryPlan, RtoFloorPlan, StackPlan, TrafficPlan, TransportPlan,
};
pub use link::{ArqPlan, BurstPlan, LinkPlan};
pub use queue::{ManagementPlan, ProtocolPlan, QueuePlan, SourcePlan};

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this format: [`Plan::FORMAT`].
    pub format: u32,
    /// Length of the run, in nanoseconds.
    pub duration_ns: u64,
    /// The data to measure and keep.
    pub record: RecordPlan,
    /// ACK-rate estimators that flows may run alongside their controllers.
    pub estimators: Vec<EstimatorPlan>,
    /// Directed links.
    pub links: Vec<LinkPlan>,
    /// Sources of traffic. One entry may produce several flows (short flows with random arrivals).
    pub flows: Vec<FlowPlan>,
}

impl Plan {
    /// The version of the format. It increases with every change that alters the meaning or the keys of a
    /// plan. Plans of version 1 do not contain the field.
    pub const FORMAT: u32 = 2;
}

/// The data to measure and keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordPlan {
    /// Start of the measurement interval of summaries (end of warm-up), in nanoseconds.
    pub measure_from_ns: u64,
    /// Width of one row of the time series, in nanoseconds.
    pub interval_ns: u64,
    /// Keep one row per data packet that reaches its receiver.
    pub packets: bool,
    /// Keep one row for each sample of every estimator.
    pub estimate_samples: bool,
    /// Keep one row for each lost packet.
    #[serde(default = "by_default")]
    pub drops: bool,
    /// Keep one row for each flow and interval with the share of time in which each limit kept the sender from sending.
    #[serde(default)]
    pub flow_limits: bool,
    /// Links at whose entrance packets are captured (pcapng, one interface per link).
    pub capture: Vec<usize>,
    /// Keep what the senders of flows observe of each packet, and write logs of flows (qlog).
    #[serde(default)]
    pub qlog: bool,
}

const fn by_default() -> bool {
    true
}

/// A number, fixed or sampled from the component's own random stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    /// A constant value.
    Constant {
        /// The value.
        value: f64,
    },
    /// Uniform on [low, high).
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: f64,
    },
}
