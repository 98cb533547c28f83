//! Errors in a plan. The caller that wrote the plan translates the field into the terms of its own input.

use std::fmt::{self, Display};

use airpath_model::declare::ComponentError;

use crate::plan::{FlowPlan, LinkPlan, Plan};

/// A reason why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text is not a plan.
    #[error("not a plan: {0}")]
    Syntax(String),
    /// The plan has another format version.
    #[error("format of the plan: found {}; accepted: {}", found.as_deref().unwrap_or("none, as in version 1"), Plan::FORMAT)]
    Format {
        /// The version in the plan, as JSON text; `None` if the plan states none.
        found: Option<String>,
    },
    /// A value is invalid.
    #[error("{part}{fault}")]
    Value {
        /// The part of the plan that contains the value.
        part: Part,
        /// The problem with the value.
        fault: Fault,
    },
}

/// A part of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The run itself.
    Run,
    /// The link of this name.
    Link(String),
    /// The flow of this name.
    Flow(String),
}

impl Part {
    /// Returns the part of a link.
    pub fn link(plan: &LinkPlan) -> Self {
        Self::Link(plan.name.clone())
    }

    /// Returns the part of a flow.
    pub fn flow(plan: &FlowPlan) -> Self {
        Self::Flow(plan.name.clone())
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run => Ok(()),
            Self::Link(name) => write!(f, "link {name}: "),
            Self::Flow(name) => write!(f, "flow {name}: "),
        }
    }
}

/// A problem with a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The field, relative to its part, as in `queue.interval`; empty for the part as a whole. Parameters of
    /// controllers, router protocols and capacity sources have the names that these components use.
    pub field: String,
    /// The value that was found, if it is a number.
    pub found: Option<f64>,
    /// What is wrong, or what is accepted.
    pub problem: String,
}

impl Fault {
    /// Creates a fault whose problem text already contains the value that was found.
    pub fn new(field: &str, problem: impl Display) -> Self {
        Self { field: field.to_owned(), found: None, problem: problem.to_string() }
    }

    /// Creates the fault of a component whose parameters are in that table of the plan.
    pub fn in_table(table: &str, error: impl Into<ComponentError>) -> Self {
        let ComponentError { parameter, found, problem } = error.into();
        let field = if parameter.is_empty() { table.to_owned() } else { format!("{table}.{parameter}") };
        Self { field, found, problem: problem.into_owned() }
    }

    /// Returns the fault as an error of that part of a plan.
    pub fn of(self, part: Part) -> PlanError {
        PlanError::Value { part, fault: self }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        if let Some(found) = self.found {
            write!(f, "found {found}; ")?;
        }
        f.write_str(&self.problem)
    }
}
