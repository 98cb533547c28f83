//! Rejection of invalid parameters when a component is built, not during a run.

use thiserror::Error;

use crate::Duration;

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{parameter} must be {range}, not {value}")]
pub struct ConfigError {
    /// The name of the parameter in the configuration.
    pub parameter: &'static str,
    /// The accepted range, as text.
    pub range: &'static str,
    /// The value that was found.
    pub value: f64,
}

/// Rejects a parameter unless it is `allowed`.
///
/// # Errors
/// The parameter, its range, and the value that was found.
pub fn check(
    allowed: bool,
    parameter: &'static str,
    range: &'static str,
    value: f64,
) -> Result<(), ConfigError> {
    if allowed { Ok(()) } else { Err(ConfigError { parameter, range, value }) }
}

/// The shortest interval of a component's timer. After an idle period, a component catches up call by call,
/// so shorter intervals would make that loop too long.
pub const SHORTEST_TIMER: Duration = Duration::from_micros(1);

/// Rejects the interval of a timer if it is shorter than [`SHORTEST_TIMER`].
///
/// # Errors
/// As [`check`].
pub fn check_timer(interval: Duration, parameter: &'static str) -> Result<(), ConfigError> {
    check(interval >= SHORTEST_TIMER, parameter, "at least a microsecond", interval.as_secs_f64())
}
