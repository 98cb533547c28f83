//! Errors of emulations.

use airpath_plan::{Fault, Part, PlanError};

/// An error when starting or running an emulation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulationError {
    /// The plan cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan can be simulated but not emulated.
    #[error("{0}")]
    NotEmulated(PlanError),
    /// The system refused a request.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    System(#[from] airpath_os_linux::SystemError),
    /// The preparation before the start failed.
    #[error("{0}")]
    NotPrepared(String),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A part of the emulator ended unexpectedly.
    #[error("{0}")]
    Broken(String),
}

impl EmulationError {
    /// Returns the error about a field of a part of the plan. `field` is named as in the plan, and empty for
    /// the part as a whole; `problem` describes the accepted values.
    pub(crate) fn not_emulated(part: Part, field: &str, problem: impl Into<String>) -> Self {
        let fault = Fault { field: field.to_owned(), found: None, problem: problem.into() };
        Self::NotEmulated(PlanError::Value { part, fault })
    }
}
