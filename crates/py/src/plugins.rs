//! Congestion controllers that are written in Python.

mod controller;
mod events;

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use airpath_control::Agent;
use airpath_control::declare::{ControllerFacts, Controllers};
use airpath_model::Timestamp;
use airpath_model::config::ConfigError;
use airpath_model::declare::{Entry, Factory, Values};
use airpath_sim::{Components, RunControl};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

pub(crate) use controller::Controller;
use controller::PythonController;
pub(crate) use events::{Ack, Facts, Sent, Signal};

pyo3::create_exception!(
    _core,
    PluginFailed,
    PyException,
    "A controller of the user raised the exception that is the cause of this one. Argument: the simulated time, s, or None at the start of a connection."
);

/// A controller in Python, as the caller of a run hands it over: its id in the plan, its JSON schema, and a function that
/// takes the values of its parameters (JSON) and returns an instance of its class.
pub(crate) type Plugin = (String, String, Py<PyAny>);

/// Returns the components of this source tree together with those that are written in Python.
pub(crate) fn components(plugins: Vec<Plugin>, failure: &Arc<Failure>) -> PyResult<Components> {
    let mut components = Components::builtin();
    for (id, schema, make) in plugins {
        let schema =
            serde_json::from_str(&schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (make, failure) = (Arc::new(make), Arc::clone(failure));
        let entry = Entry {
            id: Cow::Owned(id),
            schema,
            fill_defaults: Box::new(|_, _| Ok(())),
            read: Box::new(move |values, _| {
                let (make, failure) = (Arc::clone(&make), Arc::clone(&failure));
                Ok(Arc::new(PythonFactory { make, values: values.clone(), failure }))
            }),
        };
        let registered = components.control.controllers.register(entry);
        registered.map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok(components)
}

/// The first error of any Python controller of a run, which stops the run.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    control: Arc<RunControl>,
    /// The error, and the simulated time unless a connection was about to begin.
    error: Mutex<Option<(PyErr, Option<Timestamp>)>>,
    /// The number of beginnings and ends of calls of Python code: odd during a call.
    calls: AtomicU64,
}

impl Failure {
    pub(crate) fn new(control: Arc<RunControl>) -> Self {
        Self { control, error: Mutex::new(None), calls: AtomicU64::new(0) }
    }

    /// How many calls of Python code have begun or ended: odd during a call.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Counts the beginning or the end of a call.
    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps an error, unless there is an earlier one, and stops the run.
    fn report(&self, error: PyErr, now: Option<Timestamp>) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((error, now));
        self.control.cancel();
    }

    /// Takes the error, as the cause of a [`PluginFailed`].
    pub(crate) fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let (error, now) = self.error.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let failed = PluginFailed::new_err((now.map(Timestamp::as_secs_f64),));
        failed.set_cause(py, Some(error));
        Some(failed)
    }
}

/// Constructs the controllers of the connections of a flow.
struct PythonFactory {
    make: Arc<Py<PyAny>>,
    values: Values,
    failure: Arc<Failure>,
}

impl Debug for PythonFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonFactory").field("values", &self.values).finish_non_exhaustive()
    }
}

impl Factory<Controllers> for PythonFactory {
    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn airpath_model::Controller>, ConfigError> {
        let ControllerFacts { initial_window, mss, .. } = facts;
        let made = Python::attach(|py| {
            let object = self.make.bind(py).call1((self.json(),))?;
            PythonController::new(object.cast()?, facts, Arc::clone(&self.failure))
        });
        match made {
            Ok(controller) => Ok(Box::new(controller)),
            // The run ends soon. Until then the connection needs some controller, because it may be one of many that begin
            // during the run.
            Err(error) => {
                self.failure.report(error, None);
                Ok(Box::new(Agent::new(initial_window, mss)?))
            }
        }
    }

    fn json(&self) -> String {
        serde_json::Value::Object(self.values.clone()).to_string()
    }
}
