//! The contract of controllers.

use std::sync::{Arc, Mutex, PoisonError};

use airpath_conformance::{Contract, Examination, Follows, MSS, Operation, Rule, Subject, examine, trace};
use airpath_control::declare::{ControllerFacts, Controllers};
use airpath_model::declare::{ComponentPlan, Deserialize, Factory};
use airpath_model::{Controller, RandomStream};
use airpath_sim::{Components, RunControl};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::plugins::{Failure, Plugin, PluginComponents, components};

/// The examination of a controller of a plan (JSON) by numbered lists of operations, which depend on a seed.
///
/// `plugins` are as those of a run; `describe` turns an error of theirs into text.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct Conformance {
    examination: Mutex<Examination>,
    planned: Planned,
}

/// A controller of a plan.
struct Planned {
    factory: Arc<dyn Factory<Controllers>>,
    outside: Option<Outside>,
}

/// What a controller of the user needs.
struct Outside {
    failure: Arc<Failure>,
    describe: Py<PyAny>,
    in_python: bool,
}

impl Subject for Planned {
    fn construct(&self) -> Result<Box<dyn Controller>, String> {
        let random = RandomStream::new(1, "flow/conformance/controller");
        let facts = ControllerFacts { initial_window: MSS * 10, mss: MSS, handshake_rtt: None, random };
        self.factory.build(facts).map_err(|error| error.to_string())
    }

    fn take_error(&self) -> Option<String> {
        let outside = self.outside.as_ref()?;
        outside.failure.take_text(|error| {
            Python::attach(|py| {
                let described = outside.describe.call1(py, (error.clone_ref(py).into_value(py),));
                described.and_then(|text| text.extract(py)).unwrap_or_else(|_| error.to_string())
            })
        })
    }
}

#[pymethods]
impl Conformance {
    #[new]
    fn new(
        py: Python<'_>,
        controller: &str,
        seed: u64,
        plugins: Vec<Plugin>,
        describe: Py<PyAny>,
    ) -> PyResult<Self> {
        if plugins.is_empty() {
            return Self::of(controller, seed, airpath_sim::components(), None);
        }
        let failure = Arc::new(Failure::new(Arc::new(RunControl::default())));
        let PluginComponents { components, in_python } = components(py, plugins, &failure)?;
        Self::of(controller, seed, &components, Some(Outside { failure, describe, in_python }))
    }

    /// Examines the next lists, with the interpreter lock released unless the controller is written in Python.
    fn examine(&self, py: Python<'_>, lists: u64) {
        let work = || {
            let mut examination = self.examination.lock().unwrap_or_else(PoisonError::into_inner);
            examination.examine(&self.planned, lists);
        };
        if self.planned.outside.as_ref().is_some_and(|outside| outside.in_python) {
            work();
        } else {
            py.detach(work);
        }
    }

    /// Returns the list of operations with a number, as JSON.
    fn operations(&self, number: u64) -> PyResult<String> {
        serde_json::to_string(&self.examination().operations(number)).map_err(wrong)
    }

    /// Returns how many lists were examined, and how many of them broke which rule, as JSON.
    fn findings(&self) -> String {
        let examination = self.examination();
        let follows = examination.contract().follows();
        let rules: Vec<Value> = Rule::ALL
            .iter()
            .map(|&rule| {
                json!({
                    "rule": rule,
                    "text": rule.text(),
                    "grade": rule.grade(),
                    "binds": rule.binds(follows),
                    "lists": examination.broken(rule),
                })
            })
            .collect();
        json!({ "lists": examination.lists(), "follows": follows, "rules": rules }).to_string()
    }

    /// Returns a short list of operations that breaks a rule, and where it does, as JSON; `None` if no examined list does.
    fn shortest(&self, rule: &str) -> PyResult<Option<String>> {
        let rule = Rule::deserialize(Value::from(rule)).map_err(wrong)?;
        let failing = self.examination().shortest(&self.planned, rule);
        failing.map(|failing| serde_json::to_string(&failing).map_err(wrong)).transpose()
    }

    /// Returns what a list of operations (JSON) does: the state after each, and the rules that it breaks, as JSON.
    fn replay(&self, operations: &str) -> PyResult<String> {
        let operations: Vec<Operation> = serde_json::from_str(operations).map_err(wrong)?;
        let contract = self.examination().contract();
        let breaches = examine(contract, &self.planned, &operations);
        let steps = trace(contract, &self.planned, &operations);
        Ok(json!({ "breaches": breaches, "steps": steps }).to_string())
    }

    /// How many calls of controllers in Python have begun or ended: odd during a call. `None` without such controllers.
    #[getter]
    fn plugin_calls(&self) -> Option<u64> {
        self.planned.outside.as_ref().map(|outside| outside.failure.calls())
    }
}

impl Conformance {
    fn of(controller: &str, seed: u64, components: &Components, outside: Option<Outside>) -> PyResult<Self> {
        let plan: ComponentPlan<Controllers> = serde_json::from_str(controller).map_err(wrong)?;
        let registry = &components.control.controllers;
        let factory = registry.read(&plan, &components.control).map_err(wrong)?;
        let schema = registry.schemas().find(|(id, _)| *id == plan.kind).map(|(_, schema)| schema);
        let follows = schema.and_then(|schema| schema.get("x-follows")).map(Follows::deserialize);
        let contract = Contract::of(follows.transpose().map_err(wrong)?.unwrap_or_default());
        let examination = Mutex::new(Examination::new(contract, seed));
        Ok(Self { examination, planned: Planned { factory, outside } })
    }

    fn examination(&self) -> Examination {
        self.examination.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
