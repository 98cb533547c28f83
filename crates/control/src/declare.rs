//! The kinds of components of this crate.

mod slow_start;

use alloc::boxed::Box;
use core::fmt::Debug;

use airpath_estimate::declare::AckRates;
use airpath_model::config::ConfigError;
use airpath_model::declare::{
    Component, ComponentError, Deserialize, JsonSchema, Kind, Nested, Registry, Schema, SchemaGenerator,
    Serialize,
};
use airpath_model::{Bytes, Controller, Duration, RandomStream};
use serde::de::DeserializeOwned;

use crate::{WindowRule, Windowed};
pub use slow_start::{AnySlowStart, SlowStarts};

/// Congestion controllers.
#[derive(Debug)]
pub struct Controllers;

/// The properties of a flow on which defaults of its controller may depend.
#[derive(Clone, Copy, Debug)]
pub struct FlowContext {
    /// The largest payload of one packet.
    pub mss: Bytes,
}

/// The information that the construction of a controller needs in addition to its parameters.
#[derive(Debug)]
pub struct ControllerFacts {
    /// The initial window.
    pub initial_window: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// The RTT of the handshake, if there was one.
    pub handshake_rtt: Option<Duration>,
    /// The random stream of the controller.
    pub random: RandomStream,
}

impl ControllerFacts {
    /// Returns the controller that consists of a window rule and a slow start.
    ///
    /// # Errors
    /// A parameter of the slow start or of the flow is outside its range.
    pub fn windowed(
        &self,
        rule: impl WindowRule + 'static,
        slow_start: &Nested<SlowStarts>,
    ) -> Result<Box<dyn Controller>, ConfigError> {
        Ok(Box::new(Windowed::new(rule, slow_start.build(())?, self.initial_window, self.mss)?))
    }
}

impl Kind for Controllers {
    const NAME: &'static str = "controller";
    type Context = FlowContext;
    type Parts = Components;
    type Needs = ();
    type Facts<'a> = ControllerFacts;
    type Built = Box<dyn Controller>;

    fn example() -> FlowContext {
        FlowContext { mss: Bytes::new(1460) }
    }
}

/// The parameters of a window rule, and its construction.
///
/// With a slow start, a rule is a controller: register it as [`WindowedConfig`].
pub trait RuleConfig: Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The id of the controller.
    const ID: &'static str;
    /// The id of the default slow start.
    const SLOW_START: &'static str = "standard";
    /// The window rule.
    type Rule: WindowRule + 'static;

    /// Reads nested components from their registries.
    ///
    /// # Errors
    /// A nested component is unknown, or its parameters are wrong.
    fn bind(&mut self, _parts: &Components) -> Result<(), ComponentError> {
        Ok(())
    }

    /// Constructs the rule.
    ///
    /// # Errors
    /// A parameter is outside its range.
    fn rule(&self) -> Result<Self::Rule, ConfigError>;
}

/// A controller that consists of a window rule and a slow start: the parameters of the rule, and
/// `slow_start`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "R: RuleConfig"))]
#[schemars(bound = "R: RuleConfig", rename = "{R}", transform = presented_as::<R>)]
pub struct WindowedConfig<R> {
    #[serde(flatten)]
    rule: R,
    /// Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1, as in ns-2),
    /// `every-other-round` (as Vegas was published), `hystart++` (RFC 9406) or `hoe` (with a threshold that
    /// is estimated from three acknowledgments, Hoe 1996).
    #[serde(default = "slow_start_of::<R>")]
    slow_start: Nested<SlowStarts>,
}

/// Gives the table the title and the description of the rule.
fn presented_as<R: RuleConfig>(schema: &mut Schema) {
    let rule = R::json_schema(&mut SchemaGenerator::default());
    for key in ["title", "description"] {
        if let Some(text) = rule.get(key) {
            schema.insert(key.into(), text.clone());
        }
    }
}

fn slow_start_of<R: RuleConfig>() -> Nested<SlowStarts> {
    Nested::named(R::SLOW_START)
}

impl<R: RuleConfig> Component<Controllers> for WindowedConfig<R> {
    const ID: &'static str = R::ID;

    fn bind(&mut self, parts: &Components) -> Result<(), ComponentError> {
        self.rule.bind(parts)?;
        let bound = self.slow_start.bind(&parts.slow_starts, &());
        // A trial construction, because an error of `build` has no path to the nested parameter.
        let built = bound.and_then(|()| Ok(self.slow_start.build(())?));
        built.map(|_| ()).map_err(|error| error.inside("slow_start"))
    }

    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        facts.windowed(self.rule.rule()?, &self.slow_start)
    }
}

/// The registries of controllers and of the components that are nested in them.
#[derive(Debug)]
pub struct Components {
    /// Congestion controllers.
    pub controllers: Registry<Controllers>,
    /// Slow starts, which may be combined with any window rule.
    pub slow_starts: Registry<SlowStarts>,
    /// ACK-rate estimators, for controllers that use them.
    pub ack_rates: Registry<AckRates>,
}

#[cfg(test)]
mod tests;
