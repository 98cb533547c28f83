//! Congestion controllers.

use airpath_control::declare::Controllers;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::ComponentPlan;

/// A congestion controller and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields, remote = "Self")]
pub enum ControllerPlan {
    /// Limits that an agent outside the run sets, step by step.
    Agent,
    /// A congestion control of the operating system's kernel, available only in the emulator.
    Kernel {
        /// The name of the algorithm in the kernel (`cubic`).
        algorithm: String,
    },
    /// A controller of quinn, a QUIC stack, available only over QUIC.
    Quinn {
        /// The algorithm.
        algorithm: QuinnAlgorithm,
    },
    /// A component.
    #[serde(skip)]
    Declared(ComponentPlan<Controllers>),
}

/// A controller of quinn. Its BBR is missing: it uses the random numbers of the thread, so runs would not be
/// reproducible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuinnAlgorithm {
    /// CUBIC (RFC 8312).
    Cubic,
    /// New Reno (RFC 9002).
    NewReno,
}

impl ControllerPlan {
    /// The kinds of controllers that are not components.
    pub const NOT_DECLARED: &[&str] = &["agent", "kernel", "quinn"];

    /// Returns whether the window is fixed.
    pub(crate) fn has_fixed_window(&self) -> bool {
        matches!(self, Self::Declared(component) if component.kind == "fixed")
    }
}

impl Serialize for ControllerPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Declared(component) => component.serialize(serializer),
            other => Self::serialize(other, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ControllerPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let kind = value.as_str().or_else(|| value.get("kind")?.as_str());
        let read = if kind.is_none_or(|kind| Self::NOT_DECLARED.contains(&kind)) {
            Self::deserialize(value)
        } else {
            ComponentPlan::deserialize(value).map(Self::Declared)
        };
        read.map_err(D::Error::custom)
    }
}
