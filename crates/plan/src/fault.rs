//! Faults in a plan: the caller that wrote the plan translates the field into the terms of its own input.

use std::fmt::{self, Display};

use airpath_model::declare::ComponentError;

use crate::plan::{FlowPlan, LinkPlan, Plan};

/// What in a plan cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text is not a plan.
    #[error("not a plan: {0}")]
    Syntax(String),
    /// A plan of another format version.
    #[error("format of the plan: found {}; accepted: {}", found.as_deref().unwrap_or("none, as in version 1"), Plan::FORMAT)]
    Format {
        /// The version in the plan, as JSON text; `None` if the plan states none.
        found: Option<String>,
    },
    /// A value that makes no sense.
    #[error("{part}{fault}")]
    Value {
        /// Whose value it is.
        part: Part,
        /// What is wrong with it.
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
    /// Returns the part that a link is.
    pub fn link(plan: &LinkPlan) -> Self {
        Self::Link(plan.name.clone())
    }

    /// Returns the part that a flow is.
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

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Which, within its part, as in `queue.interval`; empty where it is the part as a whole. Parameters of controllers, router
    /// protocols and capacity sources are called as these call them.
    pub field: String,
    /// What was found, where it is a number.
    pub found: Option<f64>,
    /// What is wrong, or what is accepted.
    pub problem: String,
}

impl Fault {
    /// A fault that says itself what was found.
    pub fn new(field: &str, problem: impl Display) -> Self {
        Self { field: field.to_owned(), found: None, problem: problem.to_string() }
    }

    /// The fault of a component whose parameters are in that table of the plan.
    pub fn in_table(table: &str, error: impl Into<ComponentError>) -> Self {
        let ComponentError { parameter, found, problem } = error.into();
        let field = if parameter.is_empty() { table.to_owned() } else { format!("{table}.{parameter}") };
        Self { field, found, problem: problem.into_owned() }
    }

    /// The fault of that part of a plan.
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
