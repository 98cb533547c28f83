//! Rates one after the other, each for the same time.

use alloc::vec::Vec;

use airpath_model::declare::{ComponentError, Deserialize, JsonSchema, Serialize, defaults};
use airpath_model::{Duration, Rate};

use super::{Changes, DeclaredRate, RateFacts, StepsConfig};
use crate::declare::ensure;
use crate::{InvalidChannel, RateProcess};

/// The parameters of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequenceConfig {
    /// The rates in order; "0bps" is an outage.
    #[schemars(with = "Vec<Rate>", length(min = 1), example = ONE_RATE)]
    pub rates: Vec<u64>,
    /// Duration of each rate.
    #[schemars(with = "Duration", extend("x-key" = "hold", "exclusiveMinimum" = 0), example = 1_000_000_000)]
    pub hold_ns: u64,
    /// Whether to start again at the end; otherwise the last rate continues.
    #[serde(default = "default::repeat")]
    pub repeat: bool,
}

/// The example in the schema.
const ONE_RATE: [u64; 1] = [10_000_000];

defaults! {
    repeat: bool = true;
}

impl SequenceConfig {
    /// Returns the same rates as a schedule.
    fn steps(&self) -> StepsConfig {
        let starts = (0..).map(|index: u64| index.saturating_mul(self.hold_ns));
        StepsConfig {
            steps: starts.zip(self.rates.iter().copied()).collect(),
            repeat_after_ns: self.repeat.then(|| self.hold_ns.saturating_mul(self.rates.len() as u64)),
        }
    }
}

impl DeclaredRate for SequenceConfig {
    fn check(&self) -> Result<(), ComponentError> {
        let length = self.hold_ns.checked_mul(self.rates.len() as u64);
        ensure(
            length.is_some_and(|length| i64::try_from(length).is_ok()),
            "\"hold\" times the number of \"rates\" must be at most 292 years",
        )
    }

    fn process(&self, facts: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        self.steps().process(facts)
    }

    fn highest(&self) -> Option<Rate> {
        self.steps().highest()
    }

    fn changes(&self) -> Option<Changes> {
        self.steps().changes()
    }

    fn mean_bps(&self, run: Duration) -> Option<f64> {
        self.steps().mean_bps(run)
    }
}
