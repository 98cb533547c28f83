//! Congestion controllers that are not part of the engine: Python classes, and shared libraries.

mod controller;
mod events;
mod library;

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use airpath_control::Agent;
use airpath_control::declare::{ControllerFacts, Controllers};
use airpath_model::Timestamp;
use airpath_model::config::ConfigError;
use airpath_model::declare::{Entry, Factory, Values};
use airpath_plugin_host::FaultSink;
use airpath_sim::{Components, RunControl};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

pub(crate) use controller::Controller;
use controller::PythonController;
pub(crate) use events::{Ack, Facts, Sent, Signal};
pub(crate) use library::{Library, LibraryError};

pyo3::create_exception!(
    _core,
    PluginFailed,
    PyException,
    "A controller of the user failed. Arguments: the simulated time, s, or None at the start of a connection; the problem, or None if the cause of this exception is that of a controller in Python."
);

/// A controller of the user, as the caller of a run hands it over: its id in the plan, its JSON schema, and either a
/// [`Library`] or a function that takes the values of its parameters (JSON) and returns an instance of its class.
pub(crate) type Plugin = (String, String, Py<PyAny>);

/// The components of a run whose plan names controllers of the user.
pub(crate) struct PluginComponents {
    pub(crate) components: Components,
    /// Whether a controller is written in Python. The run then holds the interpreter lock.
    pub(crate) in_python: bool,
}

/// Returns the components of this source tree together with controllers of the user.
pub(crate) fn components(
    py: Python<'_>,
    plugins: Vec<Plugin>,
    failure: &Arc<Failure>,
) -> PyResult<PluginComponents> {
    let mut components = Components::builtin();
    let mut in_python = false;
    for (id, schema, made_by) in plugins {
        let entry = if let Ok(library) = made_by.cast_bound::<Library>(py) {
            library.get().entry(&id, failure)
        } else {
            in_python = true;
            python_entry(id, &schema, made_by, failure)?
        };
        let registered = components.control.controllers.register(entry);
        registered.map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok(PluginComponents { components, in_python })
}

/// Returns a class as a component of this id.
fn python_entry(
    id: String,
    schema: &str,
    make: Py<PyAny>,
    failure: &Arc<Failure>,
) -> PyResult<Entry<Controllers>> {
    let schema = serde_json::from_str(schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (make, failure) = (Arc::new(make), Arc::clone(failure));
    Ok(Entry {
        id: Cow::Owned(id),
        schema,
        fill_defaults: Box::new(|_, _| Ok(())),
        read: Box::new(move |values, _| {
            let (make, failure) = (Arc::clone(&make), Arc::clone(&failure));
            Ok(Arc::new(PythonFactory { make, values: values.clone(), failure }))
        }),
    })
}

/// Why a controller of the user failed.
#[derive(Debug)]
enum Fault {
    /// An exception in Python.
    Exception(PyErr),
    /// The text of a library.
    Text(String),
}

/// The first fault of any controller of the user in a run, which stops the run.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    control: Arc<RunControl>,
    /// The fault, and the simulated time unless a connection was about to begin.
    fault: Mutex<Option<(Fault, Option<Timestamp>)>>,
    /// The number of beginnings and ends of calls of Python code: odd during a call.
    calls: AtomicU64,
}

impl Failure {
    pub(crate) fn new(control: Arc<RunControl>) -> Self {
        Self { control, fault: Mutex::new(None), calls: AtomicU64::new(0) }
    }

    /// How many calls of Python code have begun or ended: odd during a call.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Counts the beginning or the end of a call.
    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps a fault, unless there is an earlier one, and stops the run.
    fn report(&self, fault: Fault, now: Option<Timestamp>) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((fault, now));
        self.control.cancel();
    }

    /// Takes the fault as a text; `describe` returns that of an exception.
    pub(crate) fn take_text(&self, describe: impl FnOnce(PyErr) -> String) -> Option<String> {
        Some(match self.taken()?.0 {
            Fault::Text(problem) => problem,
            Fault::Exception(error) => describe(error),
        })
    }

    fn taken(&self) -> Option<(Fault, Option<Timestamp>)> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the fault as a [`PluginFailed`].
    pub(crate) fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let (fault, now) = self.taken()?;
        let now = now.map(Timestamp::as_secs_f64);
        Some(match fault {
            Fault::Text(problem) => PluginFailed::new_err((now, problem)),
            Fault::Exception(error) => {
                let failed = PluginFailed::new_err((now, None::<String>));
                failed.set_cause(py, Some(error));
                failed
            }
        })
    }
}

impl FaultSink for Failure {
    fn on_fault(&self, problem: String, now: Option<Timestamp>) {
        self.report(Fault::Text(problem), now);
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
                self.failure.report(Fault::Exception(error), None);
                Ok(Box::new(Agent::new(initial_window, mss)?))
            }
        }
    }

    fn json(&self) -> String {
        serde_json::Value::Object(self.values.clone()).to_string()
    }
}
