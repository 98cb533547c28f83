//! Parameters that make no sense are refused when an estimator is built, not discovered in a run.

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{parameter} must be {range}, not {value}")]
pub struct ConfigError {
    /// Its name in the configuration.
    pub parameter: &'static str,
    /// What is allowed, in words.
    pub range: &'static str,
    /// What was given.
    pub value: f64,
}

/// `Ok` when `allowed`, else the error that names the parameter.
pub(crate) fn check(
    allowed: bool,
    parameter: &'static str,
    range: &'static str,
    value: f64,
) -> Result<(), ConfigError> {
    if allowed { Ok(()) } else { Err(ConfigError { parameter, range, value }) }
}
