//! The parameters of burst losses, as in scenarios and plans.

mod fading;
mod gilbert;
mod gilbert_elliott;
mod netem;

use alloc::format;

use airpath_model::Duration;
use airpath_model::config::{ConfigError, check};
use airpath_model::declare::{ComponentError, Deserialize, JsonSchema, Serialize};

use crate::burst_errors::LEAST_SOJOURN;
use crate::declare::ensure;
use crate::{BitClock, Clock, Coding, GilbertElliott, State};

pub(crate) use fading::FadingConfig;
pub(crate) use gilbert::GilbertConfig;
pub(crate) use gilbert_elliott::GilbertElliottConfig;
pub(crate) use netem::NetemConfig;

/// Parameters common to all chains that are not tied to one clock.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Clocked {
    /// The unit of a step of the chain: a transmitted `bit`, byte (`symbol`) or `packet`, so that the chain
    /// does not move while nothing is sent; or a span of `time`, of length `step`.
    clock: Unit,
    /// The length of a step, for clock `time` only.
    #[schemars(extend("exclusiveMinimum" = 0))]
    step: Option<Duration>,
}

/// The unit of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    /// A transmitted bit.
    Bit,
    /// A transmitted byte.
    Symbol,
    /// A transmitted packet.
    #[default]
    Packet,
    /// A span of time.
    Time,
}

impl Clocked {
    /// Returns an error for a step without the clock `time`, the clock `time` without a step, and a step for
    /// which the mean time in a state of the chain is too short.
    fn check(&self, chain: &GilbertElliott) -> Result<(), ComponentError> {
        ensure(
            (self.clock == Unit::Time) == self.step.is_some(),
            "\"step\" is required with clock = \"time\", and accepted only there",
        )?;
        let Some(step) = self.step.map(Duration::as_nanos) else { return Ok(()) };
        let steps = chain.mean_sojourn(State::Good).min(chain.mean_sojourn(State::Bad));
        let least = LEAST_SOJOURN.as_nanos() as f64;
        if libm::rint(step as f64 * steps) >= least {
            return Ok(());
        }
        let shortest = libm::ceil(least / steps);
        let problem = format!(
            "found {step} ns; accepted: at least {shortest} ns with this chain, whose mean time in each state must be \
             at least 1 us"
        );
        Err(ComponentError::new("step", problem))
    }

    /// Returns the clock, with the coding of the link if bits or bytes clock the chain.
    fn clock(&self, coding: Coding, step_by_step: bool) -> Result<Clock, ConfigError> {
        let step = self.step.unwrap_or(LEAST_SOJOURN);
        check(!step.is_zero(), "step", "greater than zero", 0.0)?;
        Ok(match self.clock {
            Unit::Bit => Clock::Air { clock: BitClock::Bit, coding, step_by_step },
            Unit::Symbol => Clock::Air { clock: BitClock::Symbol, coding, step_by_step },
            Unit::Packet => Clock::Packet,
            Unit::Time => Clock::Time(step),
        })
    }
}

/// Returns an error for parity parameters without a code.
fn check_coding(coding: &Coding) -> Result<(), ComponentError> {
    let problem = "\"parity_takes_time\" needs \"code_rate\" or \"ack_code_rate\"";
    ensure(coding.data.is_some() || coding.acks.is_some() || !coding.parity_takes_time, problem)
}
