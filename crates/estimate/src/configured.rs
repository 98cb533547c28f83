//! The papers' baseline: a capacity that an operator configured.

#[cfg(feature = "declare")]
use airpath_model::config::{ConfigError, check};
#[cfg(feature = "declare")]
use airpath_model::declare::{Component, ComponentError, Values};
use airpath_model::{CapacitySource, Rate, Timestamp};
#[cfg(feature = "declare")]
use alloc::boxed::Box;

#[cfg(feature = "declare")]
use crate::declare::{CapacitySources, SourceContext, SourceFacts};
use crate::report;

/// A capacity configured by an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "declare", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct ConfiguredConfig {
    /// The configured capacity. Default: the mean rate of the link.
    #[cfg_attr(feature = "declare", schemars(extend("exclusiveMinimum" = 0, "x-default-from" = "mean_rate")))]
    pub capacity: Rate,
}

#[cfg(feature = "declare")]
impl Component<CapacitySources> for ConfiguredConfig {
    const ID: &'static str = "configured";

    fn fill_defaults(given: &mut Values, context: &SourceContext) -> Result<(), ComponentError> {
        context.capacity(given).map(|_| ())
    }

    fn build(&self, _facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        check(self.capacity > Rate::ZERO, "capacity", "greater than zero", 0.0)?;
        Ok(Box::new(Configured::new(self.capacity)))
    }
}

/// A capacity that never changes, regardless of the link.
#[derive(Clone, Copy, Debug)]
pub struct Configured {
    rate: Rate,
}

impl Configured {
    /// Creates a source that always returns `rate`.
    pub const fn new(rate: Rate) -> Self {
        Self { rate }
    }
}

impl CapacitySource for Configured {
    fn capacity(&mut self, _now: Timestamp) -> Option<f64> {
        Some(self.rate.bytes_per_second())
    }

    fn observe(&self, report: &mut dyn FnMut(&'static str, f64)) {
        report::capacity(report, self.rate.bytes_per_second());
    }
}
