//! ACK-rate estimators.

use airpath_estimate::declare::AckRates;
use airpath_model::declare::ComponentPlan;
use serde::{Deserialize, Serialize};

/// An ACK-rate estimator, and the name under which it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimatorPlan {
    /// Name, unique among the plan's estimators.
    pub name: String,
    /// The component.
    pub estimator: ComponentPlan<AckRates>,
}
