//! Gilbert's chain, defined by its means.

use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, ComponentError, Deserialize, JsonSchema, Serialize};

use super::Clocked;
use crate::declare::Losses;
use crate::gilbert_elliott::LONGEST_BURST;
use crate::{Bursts, Coding, GilbertElliott};

/// Gilbert's chain: everything is lost in the bad state and nothing in the good one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GilbertConfig {
    #[serde(flatten)]
    clocked: Clocked,
    /// The fraction of steps that are lost.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1), example = 0.5)]
    mean_loss: f64,
    /// The mean number of consecutive lost steps; at least `mean_loss / (1 - mean_loss)`.
    #[schemars(range(min = 1, max = LONGEST_BURST), example = 4.0)]
    mean_burst: f64,
}

impl GilbertConfig {
    fn chain(&self) -> Result<GilbertElliott, ConfigError> {
        GilbertElliott::from_means(self.mean_loss, self.mean_burst)
    }
}

impl Component<Losses> for GilbertConfig {
    const ID: &'static str = "gilbert";

    fn check(&self) -> Result<(), ComponentError> {
        self.clocked.check(&self.chain()?)
    }

    fn build(&self, (): ()) -> Result<Bursts, ConfigError> {
        Ok(Bursts { chain: self.chain()?, clock: self.clocked.clock(Coding::default(), false)? })
    }
}
