//! Components that are not part of the engine: Python classes, and components in shared libraries.

mod capacity_source;
mod checks;
mod controller;
mod estimator;
mod events;
mod factory;
mod library;
mod link;
mod methods;
mod queue;
mod recorded;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use airpath_control::declare::Controllers;
use airpath_estimate::declare::{AckRates, CapacitySources};
use airpath_model::Timestamp;
use airpath_model::declare::{ComponentError, Entry, Factory, Kind};
use airpath_plugin_host::{FaultSink, LibraryKind};
use airpath_queue::declare::Queues;
use airpath_sim::network::Packet;
use airpath_sim::{Components, RunControl};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

pub(crate) use capacity_source::CapacitySource;
pub(crate) use controller::Controller;
pub(crate) use estimator::Estimator;
pub(crate) use events::{Ack, Facts, Sent, Signal};
use factory::{Instances, PythonClass};
pub(crate) use library::{Library, LibraryError};
pub(crate) use link::{Interval, LinkFacts, Waiting};
pub(crate) use queue::{Queue, QueuedPacket};

const BITS_PER_BYTE: f64 = 8.0;

pyo3::create_exception!(
    _core,
    PluginFailed,
    PyException,
    "A component of the user failed. Arguments: the simulated time, s, or None at the start of a connection; the problem, or None if the cause of this exception is that of code in Python; then the name of the component."
);

/// A component of the user, as the caller of a run passes it: its kind, its id in the plan, its JSON schema, and either a
/// [`Library`] that has it, or a function that takes the values of its parameters (JSON) and returns an instance of its class.
pub(crate) type Plugin = (String, String, String, Py<PyAny>);

/// The components of a run whose plan names components of the user.
pub(crate) struct PluginComponents {
    pub(crate) components: Components,
    /// Whether a component is written in Python. The run then holds the interpreter lock.
    pub(crate) in_python: bool,
}

/// Returns the components of this source tree together with those of the user.
pub(crate) fn components(
    py: Python<'_>,
    plugins: Vec<Plugin>,
    failure: &Arc<Failure>,
) -> PyResult<PluginComponents> {
    let mut components = Components::builtin();
    let mut in_python = false;
    for (kind, id, schema, made_by) in plugins {
        let made = if let Ok(library) = made_by.cast_bound::<Library>(py) {
            Made::InLibrary { library: library.get(), id: &id, failure }
        } else {
            in_python = true;
            Made::InPython(PythonClass::new(id.clone(), &schema, made_by.clone_ref(py), failure)?)
        };
        let registered = match kind.as_str() {
            Controllers::NAME => components.control.controllers.register(made.entry()?),
            AckRates::NAME => components.control.ack_rates.register(made.entry()?),
            CapacitySources::NAME => components.sources.register(made.entry()?),
            Queues::<Packet>::NAME => components.queues.register(made.entry()?),
            _ => Err(ComponentError::new("", format!("there are no components of kind {kind:?}"))),
        };
        registered.map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok(PluginComponents { components, in_python })
}

/// What makes the instances of a component.
enum Made<'a> {
    InLibrary { library: &'a Library, id: &'a str, failure: &'a Arc<Failure> },
    InPython(PythonClass),
}

impl Made<'_> {
    fn entry<K: LibraryKind>(self) -> PyResult<Entry<K>>
    where
        Instances: Factory<K>,
    {
        match self {
            Self::InLibrary { library, id, failure } => library.entry(id, failure),
            Self::InPython(class) => Ok(class.entry()),
        }
    }
}

/// Why a component of the user failed.
#[derive(Debug)]
enum Fault {
    /// An exception in Python, in a component of this name.
    Exception(String, PyErr),
    /// The text of a library.
    Text(String),
}

/// The first fault of any component of the user in a run, which stops the run.
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

    /// Whether a component has failed.
    pub(crate) fn is_set(&self) -> bool {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).is_some()
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
            Fault::Exception(_, error) => describe(error),
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
            Fault::Exception(component, error) => {
                let failed = PluginFailed::new_err((now, None::<String>, component));
                failed.set_cause(py, Some(error));
                failed
            }
        })
    }
}

/// A class of the user in a run.
#[derive(Debug)]
struct Class {
    /// Its id in the plan.
    id: String,
    failure: Arc<Failure>,
}

impl Class {
    /// Calls Python code. An exception is kept as the fault of the run.
    fn call<T>(&self, now: Option<Timestamp>, method: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        self.failure.calls.fetch_add(1, Ordering::Relaxed);
        let called = Python::attach(method);
        self.failure.calls.fetch_add(1, Ordering::Relaxed);
        called.map_err(|error| self.failure.report(Fault::Exception(self.id.clone(), error), now)).ok()
    }
}

impl FaultSink for Failure {
    fn on_fault(&self, problem: String, now: Option<Timestamp>) {
        self.report(Fault::Text(problem), now);
    }
}
