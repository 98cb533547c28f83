//! The chain of the Linux queue discipline `netem`.

use alloc::format;

use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, ComponentError, Deserialize, JsonSchema, Serialize, defaults};

use crate::declare::Losses;
use crate::gilbert_elliott::LEAST_PROBABILITY;
use crate::{Bursts, Clock, GilbertElliott};

/// The chain of `netem loss gemodel p r 1-h 1-k`, clocked by packets.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NetemConfig {
    /// The probability of going from the good to the bad state.
    #[schemars(range(min = 0, max = 1), example = 0.01)]
    p: f64,
    /// The probability of going from the bad to the good state.
    #[schemars(range(min = LEAST_PROBABILITY, max = 1), example = 0.25)]
    r: f64,
    /// 1-h: the loss probability in the bad state.
    #[serde(default = "default::loss_bad")]
    #[schemars(range(min = 0, max = 1))]
    loss_bad: f64,
    /// 1-k: the loss probability in the good state.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    loss_good: f64,
}

defaults! {
    loss_bad: f64 = 1.0;
}

impl Component<Losses> for NetemConfig {
    const ID: &'static str = "netem-gemodel";

    fn check(&self) -> Result<(), ComponentError> {
        if self.p == 0.0 || self.p >= LEAST_PROBABILITY {
            return Ok(());
        }
        let problem = format!("found {:?}; accepted: 0, or from 1e-12 to 1", self.p);
        Err(ComponentError::new("p", problem))
    }

    fn build(&self, (): ()) -> Result<Bursts, ConfigError> {
        let chain = GilbertElliott::netem(self.p, self.r, self.loss_bad, self.loss_good)?;
        Ok(Bursts { chain, clock: Clock::Packet })
    }
}
