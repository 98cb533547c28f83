//! Parameters that make no sense are refused when a component is built, not discovered in a run.

use thiserror::Error;

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
