//! The Gilbert-Elliott chain, defined by its probabilities.

use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, ComponentError, Deserialize, JsonSchema, Serialize, defaults};

use super::{Clocked, Unit, check_coding};
use crate::declare::{Losses, ensure};
use crate::{Bursts, Coding, GilbertElliott};

/// A Gilbert-Elliott chain, defined by its probabilities per step.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GilbertElliottConfig {
    #[serde(flatten)]
    coding: Coding,
    /// Simulate every step of the chain instead of sampling once per packet: for verification, and slow.
    #[serde(default)]
    step_by_step: bool,
    #[serde(flatten)]
    clocked: Clocked,
    /// The probability of staying in the good state.
    #[schemars(range(min = 0, max = 1), example = 0.99)]
    gamma: f64,
    /// The probability of staying in the bad state.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1), example = 0.75)]
    beta: f64,
    /// The error probability in the good state.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    eps_good: f64,
    /// The error probability in the bad state.
    #[serde(default = "default::eps_bad")]
    #[schemars(range(min = 0, max = 1))]
    eps_bad: f64,
}

defaults! {
    eps_bad: f64 = 1.0;
}

impl GilbertElliottConfig {
    fn chain(&self) -> Result<GilbertElliott, ConfigError> {
        GilbertElliott::new(self.gamma, self.beta, self.eps_good, self.eps_bad)
    }
}

impl Component<Losses> for GilbertElliottConfig {
    const ID: &'static str = "gilbert-elliott";

    fn check(&self) -> Result<(), ComponentError> {
        check_coding(&self.coding)?;
        self.clocked.check(&self.chain()?)?;
        let needs_bits = self.coding.data.is_some() || self.coding.acks.is_some() || self.step_by_step;
        ensure(
            !needs_bits || matches!(self.clocked.clock, Unit::Bit | Unit::Symbol),
            "codes and \"step_by_step\" need clock = \"bit\" or clock = \"symbol\"",
        )
    }

    fn build(&self, (): ()) -> Result<Bursts, ConfigError> {
        Ok(Bursts { chain: self.chain()?, clock: self.clocked.clock(self.coding, self.step_by_step)? })
    }
}
