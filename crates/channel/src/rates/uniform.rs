//! A new random rate for each interval.

use alloc::format;
use alloc::string::String;
use alloc::vec;

use airpath_model::declare::{ComponentError, Deserialize, JsonSchema, Serialize};
use airpath_model::{Duration, RandomStream, Rate};

use super::{Changes, DeclaredRate, RateFacts};
use crate::declare::ensure;
use crate::{InvalidChannel, RateProcess, UniformRate};

/// The parameters of uniformly distributed rates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformConfig {
    /// The lowest rate.
    #[schemars(with = "Rate", extend("x-key" = "low", "exclusiveMinimum" = 0), example = 1_000_000)]
    pub low_bps: u64,
    /// The highest rate.
    #[schemars(with = "Rate", extend("x-key" = "high", "exclusiveMinimum" = 0), example = 20_000_000)]
    pub high_bps: u64,
    /// Duration of each rate.
    #[schemars(with = "Duration", extend("x-key" = "hold", "exclusiveMinimum" = 0), example = 1_000_000_000)]
    pub hold_ns: u64,
    /// The rate of the first interval; random like the others if absent.
    #[schemars(with = "Option<Rate>", extend("x-key" = "initial", "exclusiveMinimum" = 0))]
    pub initial_bps: Option<u64>,
    /// Links that name the same stream have the same random rates. By default, the two directions of a link
    /// share one.
    #[schemars(extend("pattern" = "^[A-Za-z0-9][A-Za-z0-9._+-]*$"))]
    pub stream: Option<String>,
}

impl DeclaredRate for UniformConfig {
    fn check(&self) -> Result<(), ComponentError> {
        ensure(self.low_bps <= self.high_bps, "\"low\" must not be above \"high\"")
    }

    fn process(&self, facts: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        let [low, high] = [self.low_bps, self.high_bps].map(Rate::from_bps);
        let hold = Duration::from_nanos(self.hold_ns);
        let initial = self.initial_bps.map(Rate::from_bps);
        let path = format!("link/{}/rate", self.stream.as_deref().unwrap_or(facts.link));
        let stream = RandomStream::new(facts.seed, &path);
        UniformRate::new(low, high, hold, initial, stream).map(RateProcess::from)
    }

    fn highest(&self) -> Option<Rate> {
        let bps = self.high_bps.max(self.low_bps).max(self.initial_bps.unwrap_or(0));
        Some(Rate::from_bps(bps))
    }

    fn changes(&self) -> Option<Changes> {
        Some(Changes { starts: vec![0], period: Some(self.hold_ns) })
    }

    fn mean_bps(&self, _: Duration) -> Option<f64> {
        Some(f64::midpoint(self.low_bps as f64, self.high_bps as f64))
    }
}
