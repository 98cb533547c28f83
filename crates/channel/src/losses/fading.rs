//! Phase-shift keying over fading.

use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, ComponentError, Deserialize, JsonSchema, Serialize, defaults};

use super::check_coding;
use crate::declare::Losses;
use crate::{BitClock, Bursts, Clock, Coding, GilbertElliott, TwoStateFading};

/// Phase-shift keying over fading, with the signal-to-noise ratio of a chain's state.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FadingConfig {
    #[serde(flatten)]
    coding: Coding,
    /// Simulate every step of the chain instead of sampling once per packet: for verification, and slow.
    #[serde(default)]
    step_by_step: bool,
    /// The unit of a step of the chain: a transmitted `bit`, or a byte (`symbol`) that is wrong with the
    /// probability of one wrong bit. The chain does not move while nothing is sent.
    #[serde(default)]
    clock: BitClock,
    #[serde(flatten)]
    fading: TwoStateFading,
    /// The probability of staying in the good state.
    #[serde(default = "default::gamma")]
    #[schemars(range(min = 0, max = 1))]
    gamma: f64,
    /// The probability of staying in the bad state.
    #[serde(default = "default::beta")]
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    beta: f64,
}

defaults! {
    gamma: f64 = 0.99875;
    beta: f64 = 0.875;
}

impl FadingConfig {
    fn chain(&self) -> Result<GilbertElliott, ConfigError> {
        self.fading.chain(self.gamma, self.beta)
    }
}

impl Component<Losses> for FadingConfig {
    const ID: &'static str = "fading";

    fn check(&self) -> Result<(), ComponentError> {
        self.chain()?;
        check_coding(&self.coding)
    }

    fn build(&self, (): ()) -> Result<Bursts, ConfigError> {
        let Self { clock, coding, step_by_step, .. } = *self;
        Ok(Bursts { chain: self.chain()?, clock: Clock::Air { clock, coding, step_by_step } })
    }
}
