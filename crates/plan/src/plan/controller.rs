//! Congestion controllers.

use airpath_control::declare::Controllers;
use serde::{Deserialize, Serialize};

use super::ComponentPlan;
use super::declared::declared_or_listed;

/// A congestion controller and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
pub enum ControllerPlan {
    /// What an agent outside of the run sets, step by step ([`crate::Episodes`]).
    Agent,
    /// A congestion control of the operating system's kernel: only the emulator has it.
    Kernel {
        /// Its name there (`cubic`).
        algorithm: String,
    },
    /// A component that declares itself.
    #[serde(skip)]
    Declared(ComponentPlan<Controllers>),
}

declared_or_listed!(ControllerPlan, ["agent", "kernel"]);

impl ControllerPlan {
    /// Whether the window is fixed.
    pub(crate) fn has_fixed_window(&self) -> bool {
        matches!(self, Self::Declared(component) if component.kind == "fixed")
    }
}
