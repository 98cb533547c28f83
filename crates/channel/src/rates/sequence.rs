//! Rates one after the other, each for the same time.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use airpath_model::declare::{ComponentError, Deserialize, JsonSchema, Serialize, defaults};
use airpath_model::{Duration, Rate};

use super::{Changes, DeclaredRate, RateFacts, StepsConfig};
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

/// The longest time that a plan can contain.
const LONGEST_NS: u64 = i64::MAX as u64;

/// Returns a time in seconds, exactly.
fn seconds(nanoseconds: u64) -> String {
    let text = format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').into()
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
        let count = self.rates.len();
        let longest = LONGEST_NS / (count as u64).max(1);
        if self.hold_ns <= longest {
            return Ok(());
        }
        let [found, longest] = [self.hold_ns, longest].map(seconds);
        let problem = format!("\"hold\": found {found} s; accepted: at most {longest} s with {count} rates");
        Err(ComponentError::new("", problem))
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
