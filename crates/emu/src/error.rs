//! What can go wrong around an emulation.

use airpath_plan::{Fault, Part, PlanError};

/// Why an emulation cannot be started or went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulationError {
    /// The plan cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan can be simulated but not emulated.
    #[error("{0}")]
    NotEmulated(PlanError),
    /// The system refused something.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    System(#[from] airpath_os_linux::SystemError),
    /// What was to be done before the start could not be done.
    #[error("{0}")]
    NotPrepared(String),
    /// It was asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// A part of the emulator ended that should not.
    #[error("{0}")]
    Broken(String),
}

impl EmulationError {
    /// A field of a part of the plan, called as the plan calls it (empty where it is the part as a whole), and what is accepted.
    pub(crate) fn not_emulated(part: Part, field: &str, problem: impl Into<String>) -> Self {
        let fault = Fault { field: field.to_owned(), found: None, problem: problem.into() };
        Self::NotEmulated(PlanError::Value { part, fault })
    }
}
