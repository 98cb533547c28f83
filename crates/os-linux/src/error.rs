//! Errors of the operating system.

use std::io;

/// An error of the operating system, with the request that failed.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {error}")]
pub struct SystemError {
    /// The request, and a possible remedy.
    pub what: String,
    /// The error.
    pub error: io::Error,
}

/// Adds the request that failed to an error of the operating system.
pub trait Context<T> {
    /// Returns the value, or the error with the request.
    ///
    /// # Errors
    /// If `self` is an error.
    fn context(self, what: impl Into<String>) -> Result<T, SystemError>;
}

impl<T, E: Into<io::Error>> Context<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T, SystemError> {
        self.map_err(|error| SystemError { what: what.into(), error: error.into() })
    }
}
