//! Parameters that make no sense are refused when a component is built, not discovered in a run.

use thiserror::Error;

use crate::Duration;

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{parameter} must be {range}, not {value}")]
pub struct ConfigError {
    /// Its name in the configuration.
    pub parameter: &'static str,
    /// What is allowed, in words.
    pub range: &'static str,
    /// What was given.
    pub value: f64,
}

/// Refuses a parameter unless it is `allowed`.
///
/// # Errors
/// The error that names the parameter, its range and what was given.
pub fn check(
    allowed: bool,
    parameter: &'static str,
    range: &'static str,
    value: f64,
) -> Result<(), ConfigError> {
    if allowed { Ok(()) } else { Err(ConfigError { parameter, range, value }) }
}

/// The shortest time from one call of a component's timer to the next: what happens while nobody looks at the component is caught
/// up with call by call.
pub const SHORTEST_TIMER: Duration = Duration::from_micros(1);

/// Refuses the interval of a timer unless it is at least [`SHORTEST_TIMER`].
///
/// # Errors
/// As [`check`].
pub fn check_timer(interval: Duration, parameter: &'static str) -> Result<(), ConfigError> {
    check(interval >= SHORTEST_TIMER, parameter, "at least a microsecond", interval.as_secs_f64())
}
