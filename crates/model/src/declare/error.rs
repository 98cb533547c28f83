//! Errors of components: why one is rejected.

use alloc::borrow::Cow;
use alloc::format;
use core::fmt::{self, Display};

use crate::config::ConfigError;

/// Why a component is rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentError {
    /// The parameter, with a path if it belongs to a nested component (`slow_start.css_rounds`); empty for the component
    /// as a whole.
    pub parameter: Cow<'static, str>,
    /// The value that was found, unless the problem already contains it.
    pub found: Option<f64>,
    /// What is wrong, or what is accepted.
    pub problem: Cow<'static, str>,
}

impl ComponentError {
    /// Creates an error about one parameter, or about the component as a whole if `parameter` is empty.
    pub fn new(parameter: impl Into<Cow<'static, str>>, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { parameter: parameter.into(), found: None, problem: problem.into() }
    }

    /// Returns the same error for a component that is nested in the parameter `outer`.
    #[must_use]
    pub fn inside(self, outer: &str) -> Self {
        let parameter = if self.parameter.is_empty() {
            Cow::Owned(outer.into())
        } else {
            Cow::Owned(format!("{outer}.{}", self.parameter))
        };
        Self { parameter, ..self }
    }
}

impl From<ConfigError> for ComponentError {
    fn from(error: ConfigError) -> Self {
        Self {
            parameter: Cow::Borrowed(error.parameter),
            found: Some(error.value).filter(|value| value.is_finite()),
            problem: Cow::Owned(format!("accepted: {}", error.range)),
        }
    }
}

impl Display for ComponentError {
    /// Writes the value that was found and the problem, without the parameter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(found) = self.found {
            write!(f, "found {found}; ")?;
        }
        f.write_str(&self.problem)
    }
}
