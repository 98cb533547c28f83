//! The kinds of components of this crate, and the components that it has.

use alloc::boxed::Box;
use core::fmt::Debug;

use airpath_model::config::ConfigError;
use airpath_model::declare::{Component, Deserialize, JsonSchema, Kind, Part, Registry, Serialize};
use airpath_model::{AckEvent, Bytes, CongestionSignal, Controller, Duration, Phase, RandomStream};
use serde::de::DeserializeOwned;

use crate::{
    CubicConfig, EveryOtherRoundConfig, HystartPlusPlusConfig, NewRenoConfig, PerAcknowledgmentConfig,
    SlowStart, StandardConfig, VegasConfig, WindowRule, Windowed,
};

/// Congestion controllers.
#[derive(Debug)]
pub struct Controllers;

/// What is known of a flow where its controller is planned.
#[derive(Clone, Copy, Debug)]
pub struct FlowPlace {
    /// The largest payload of one packet.
    pub mss: Bytes,
}

/// What the construction of a controller needs.
#[derive(Debug)]
pub struct ControllerFacts<'a> {
    /// The first window.
    pub initial_window: Bytes,
    /// The largest payload of one packet.
    pub mss: Bytes,
    /// The RTT of the handshake, if there was one.
    pub handshake_rtt: Option<Duration>,
    /// What the controller may draw from.
    pub random: RandomStream,
    /// The components that it may be composed of.
    pub components: &'a Components,
}

impl ControllerFacts<'_> {
    /// A whole controller of a rule and the slow start of that id.
    ///
    /// # Errors
    /// A parameter of the slow start or of the flow that makes no sense.
    pub fn windowed(
        &self,
        rule: impl WindowRule + 'static,
        slow_start: &Part<SlowStarts>,
    ) -> Result<Box<dyn Controller>, ConfigError> {
        let slow_start = self.components.slow_starts.build(slow_start, ())?;
        Ok(Box::new(Windowed::new(rule, slow_start, self.initial_window, self.mss)?))
    }
}

impl Kind for Controllers {
    const NAME: &'static str = "controller";
    type Place = FlowPlace;
    type Facts<'a> = ControllerFacts<'a>;
    type Built = Box<dyn Controller>;

    fn example() -> FlowPlace {
        FlowPlace { mss: Bytes::new(1460) }
    }
}

/// Slow starts, which go with any window rule.
#[derive(Debug)]
pub struct SlowStarts;

impl Kind for SlowStarts {
    const NAME: &'static str = "slow-start";
    type Place = ();
    type Facts<'a> = ();
    type Built = AnySlowStart;

    fn example() {}
}

/// A slow start of any type.
#[derive(Debug)]
pub struct AnySlowStart(Box<dyn ClonedSlowStart>);

impl AnySlowStart {
    /// This one.
    pub fn new(slow_start: impl SlowStart + 'static) -> Self {
        Self(Box::new(slow_start))
    }
}

trait ClonedSlowStart: Debug + Send {
    fn cloned(&self) -> Box<dyn ClonedSlowStart>;
    fn growth(&self, event: &AckEvent) -> Bytes;
    fn on_ack(&mut self, event: &AckEvent) -> bool;
    fn initial_ssthresh(&self) -> Option<Bytes>;
    fn on_congestion(&mut self, signal: CongestionSignal);
    fn phase(&self) -> Phase;
}

impl<S: SlowStart + 'static> ClonedSlowStart for S {
    fn cloned(&self) -> Box<dyn ClonedSlowStart> {
        Box::new(self.clone())
    }

    fn growth(&self, event: &AckEvent) -> Bytes {
        SlowStart::growth(self, event)
    }

    fn on_ack(&mut self, event: &AckEvent) -> bool {
        SlowStart::on_ack(self, event)
    }

    fn initial_ssthresh(&self) -> Option<Bytes> {
        SlowStart::initial_ssthresh(self)
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        SlowStart::on_congestion(self, signal);
    }

    fn phase(&self) -> Phase {
        SlowStart::phase(self)
    }
}

impl Clone for AnySlowStart {
    fn clone(&self) -> Self {
        Self(self.0.cloned())
    }
}

impl SlowStart for AnySlowStart {
    fn growth(&self, event: &AckEvent) -> Bytes {
        self.0.growth(event)
    }

    fn on_ack(&mut self, event: &AckEvent) -> bool {
        self.0.on_ack(event)
    }

    fn initial_ssthresh(&self) -> Option<Bytes> {
        self.0.initial_ssthresh()
    }

    fn on_congestion(&mut self, signal: CongestionSignal) {
        self.0.on_congestion(signal);
    }

    fn phase(&self) -> Phase {
        self.0.phase()
    }
}

/// The parameters of a window rule and its construction.
pub trait RuleConfig: Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The id of the controller that the rule makes with a slow start.
    const ID: &'static str;
    /// The slow start that it has unless another is asked for.
    const SLOW_START: &'static str = "standard";
    /// The rule.
    type Rule: WindowRule + 'static;

    /// Constructs the rule.
    ///
    /// # Errors
    /// A parameter outside its range.
    fn rule(&self) -> Result<Self::Rule, ConfigError>;
}

/// A controller made of a rule and a slow start: the parameters of the rule, and one more.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "R: RuleConfig"))]
#[schemars(bound = "R: RuleConfig", rename = "{R}")]
pub struct WindowedConfig<R> {
    #[serde(flatten)]
    rule: R,
    /// Slow start: `standard` (RFC 5681 with RFC 3465, L = 2), `per-acknowledgment` (L = 1, as ns-2 does),
    /// `every-other-round` (as Vegas was published), `hystart++` (RFC 9406) or `hoe` (towards a threshold that
    /// three acknowledgments tell, Hoe 1996).
    #[serde(default = "slow_start::<R>")]
    slow_start: Part<SlowStarts>,
}

fn slow_start<R: RuleConfig>() -> Part<SlowStarts> {
    Part::named(R::SLOW_START)
}

impl<R: RuleConfig> Component<Controllers> for WindowedConfig<R> {
    const ID: &'static str = R::ID;

    fn build(&self, facts: ControllerFacts<'_>) -> Result<Box<dyn Controller>, ConfigError> {
        facts.windowed(self.rule.rule()?, &self.slow_start)
    }
}

/// The components of this crate: one line each.
#[derive(Debug)]
pub struct Components {
    /// Congestion controllers.
    pub controllers: Registry<Controllers>,
    /// Slow starts.
    pub slow_starts: Registry<SlowStarts>,
}

impl Components {
    /// Those of this crate.
    pub fn builtin() -> Self {
        Self {
            controllers: Registry::default()
                .with::<WindowedConfig<NewRenoConfig>>()
                .with::<WindowedConfig<CubicConfig>>()
                .with::<WindowedConfig<VegasConfig>>(),
            slow_starts: Registry::default()
                .with::<StandardConfig>()
                .with::<PerAcknowledgmentConfig>()
                .with::<EveryOtherRoundConfig>()
                .with::<HystartPlusPlusConfig>(),
        }
    }
}

#[cfg(test)]
mod tests;
