//! A constant rate.

use alloc::vec;

use airpath_model::declare::{Deserialize, JsonSchema, Serialize};
use airpath_model::{Duration, Rate};

use super::{Changes, DeclaredRate, RateFacts};
use crate::{InvalidChannel, RateProcess};

/// The parameters of a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantConfig {
    /// The rate, with a unit of bits per second.
    #[schemars(with = "Rate", extend("x-key" = "rate", "exclusiveMinimum" = 0), example = 10_000_000)]
    pub bps: u64,
}

impl DeclaredRate for ConstantConfig {
    fn process(&self, _: RateFacts<'_>) -> Result<RateProcess, InvalidChannel> {
        RateProcess::constant(Rate::from_bps(self.bps))
    }

    fn highest(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.bps))
    }

    fn changes(&self) -> Option<Changes> {
        Some(Changes { starts: vec![0], period: None })
    }

    fn mean_bps(&self, _: Duration) -> Option<f64> {
        Some(self.bps as f64)
    }
}
