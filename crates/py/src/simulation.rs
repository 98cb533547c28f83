//! Runs.

use std::sync::{Arc, Mutex, PoisonError};

use airpath_quic::{QuicRun, RunError};
use airpath_sim::plan::Plan;
use airpath_sim::{
    Column, Components, FlowLog, FlowSeries, Input, Outcome, Part, RunControl, Table, flow_logs,
};
use numpy::PyArray1 as Array;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::plugins::{Failure, Plugin, PluginComponents, components};
use crate::trace::Trace;

pyo3::create_exception!(
    _core,
    PlanError,
    PyValueError,
    "The plan cannot be run. Arguments: message, and where a value is wrong: the part of the plan (link, flow or nothing), its name, the field, the number that was found, the problem."
);
pyo3::create_exception!(_core, RunCancelled, PyRuntimeError, "The run was cancelled before its end.");

/// Converts the error of a plan that cannot be run to a Python exception.
pub(crate) fn refused(error: airpath_sim::PlanError) -> PyErr {
    let message = error.to_string();
    let airpath_sim::PlanError::Value { part, fault } = error else { return PlanError::new_err(message) };
    let (part, name) = match part {
        Part::Run => ("", String::new()),
        Part::Link(name) => ("link", name),
        Part::Flow(name) => ("flow", name),
    };
    PlanError::new_err((message, part, name, fault.field, fault.found, fault.problem))
}

/// Reads a plan (JSON) and writes it back with every field and every parameter of its components.
#[pyfunction]
pub(crate) fn rewritten_plan(plan: &str) -> PyResult<String> {
    airpath_sim::components().rewrite(plan).map_err(refused)
}

/// One run: a plan (JSON), the traces that it refers to by number, and a seed; over the simulator's own transport, or over
/// QUIC. A plan may name controllers of the user; the run holds the interpreter lock if one is written in Python.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct Simulation {
    run: Mutex<Option<(Run, Plan)>>,
    control: Arc<RunControl>,
    /// The first fault of a controller of the user, if the plan names one.
    failure: Option<Arc<Failure>>,
    /// Whether a controller is written in Python.
    in_python: bool,
}

/// What can be run in simulated time.
enum Run {
    Simulated(Box<airpath_sim::Simulation>),
    OverQuic(Box<QuicRun>),
}

impl Run {
    fn new(
        plan: &Plan,
        inputs: &[Arc<Input>],
        seed: u64,
        over_quic: bool,
        components: &Components,
    ) -> Result<Self, airpath_sim::PlanError> {
        if over_quic {
            let run = QuicRun::with_components(plan, inputs, seed, components)?;
            return Ok(Self::OverQuic(Box::new(run)));
        }
        let run = airpath_sim::Simulation::with_components(plan, inputs, seed, components)?;
        Ok(Self::Simulated(Box::new(run)))
    }

    fn run(self, control: &RunControl) -> PyResult<Outcome> {
        match self {
            Self::Simulated(run) => {
                run.run(control).map_err(|error| RunCancelled::new_err(error.to_string()))
            }
            Self::OverQuic(run) => run.run(control).map_err(|error| match error {
                RunError::Cancelled => RunCancelled::new_err(error.to_string()),
                _ => PyRuntimeError::new_err(error.to_string()),
            }),
        }
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (plan, traces, seed, over_quic=false, plugins=Vec::new()))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn new(
        py: Python<'_>,
        plan: &str,
        traces: Vec<PyRef<'_, Trace>>,
        seed: u64,
        over_quic: bool,
        plugins: Vec<Plugin>,
    ) -> PyResult<Self> {
        let inputs: Vec<Arc<Input>> = traces.iter().map(|trace| trace.input()).collect();
        let control = Arc::new(RunControl::default());
        let make = |components: &Components| {
            let plan = Plan::from_json(plan)?;
            Run::new(&plan, &inputs, seed, over_quic, components).map(|run| (run, plan))
        };
        let (run, failure, in_python) = if plugins.is_empty() {
            (py.detach(|| make(airpath_sim::components())), None, false)
        } else {
            let failure = Arc::new(Failure::new(Arc::clone(&control)));
            let PluginComponents { components, in_python } = components(py, plugins, &failure)?;
            let run = if in_python { make(&components) } else { py.detach(|| make(&components)) };
            (run, Some(failure), in_python)
        };
        // An error of a plugin comes first, because it may be the cause of the other.
        if let Some(error) = failure.as_ref().and_then(|failure| failure.take(py)) {
            return Err(error);
        }
        let run = run.map_err(refused)?;
        Ok(Self { run: Mutex::new(Some(run)), control, failure, in_python })
    }

    /// Runs to the end with the interpreter lock released, unless a controller is written in Python. Can be called once.
    ///
    /// Returns (tables, capture, counts): tables as {name: {column: array}}, the pcapng file or None, and what the engine did as {name: number}, with the names of the quantities in
    /// `link_observations` and `flow_observations` as "quantities", and logs of flows (qlog) as "logs": (flow, events without a header).
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Handed<'py>> {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (run, plan) = run.ok_or_else(|| PyRuntimeError::new_err("a run can be run once"))?;
        let outcome =
            if self.in_python { run.run(&self.control) } else { py.detach(|| run.run(&self.control)) };
        // A run may end before it notices that it is to stop.
        if let Some(error) = self.failure.as_ref().and_then(|failure| failure.take(py)) {
            return Err(error);
        }
        let outcome = outcome?;
        let logs = py.detach(|| flow_logs(&plan, &outcome));
        hand_over(py, outcome, &logs)
    }

    /// Asks the run to stop soon; `run` then raises `RunCancelled`.
    fn cancel(&self) {
        self.control.cancel();
    }

    /// How many calls of controllers in Python have begun or ended: odd during a call. `None` without such controllers.
    #[getter]
    fn plugin_calls(&self) -> Option<u64> {
        self.failure.as_ref().filter(|_| self.in_python).map(|failure| failure.calls())
    }

    /// The share of simulated time that is done, 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        self.control.progress()
    }
}

/// Tables, capture, counts.
pub(crate) type Handed<'py> = (Bound<'py, PyDict>, Option<Bound<'py, PyBytes>>, Bound<'py, PyDict>);

/// What a run hands out, for Python.
pub(crate) fn hand_over<'py>(py: Python<'py>, outcome: Outcome, logs: &[FlowLog]) -> PyResult<Handed<'py>> {
    let tables = tables(py, outcome.tables, outcome.flow_series)?;
    let counts = PyDict::new(py);
    counts.set_item("events", outcome.counts.events)?;
    counts.set_item("packet_hops", outcome.counts.packet_hops)?;
    counts.set_item("packets_sent", outcome.counts.packets_sent)?;
    counts.set_item("packets_received", outcome.counts.packets_received)?;
    counts.set_item("packets_inside", outcome.counts.packets_inside)?;
    counts.set_item("quantities", outcome.quantities)?;
    let logs: Vec<_> = logs.iter().map(|log| (log.flow, PyBytes::new(py, &log.events))).collect();
    counts.set_item("logs", logs)?;
    Ok((tables, outcome.capture.map(|capture| PyBytes::new(py, &capture)), counts))
}

/// Tables as {name: {column: `NumPy` array}}. The arrays own the columns: nothing is copied.
pub(crate) fn tables(py: Python<'_>, tables: Vec<Table>, series: FlowSeries) -> PyResult<Bound<'_, PyDict>> {
    let by_name = PyDict::new(py);
    let series = py.detach(move || series.table());
    for table in tables.into_iter().chain([series]) {
        let columns = PyDict::new(py);
        for (name, column) in table.columns {
            match column {
                Column::I64(values) => columns.set_item(name, Array::from_vec(py, values))?,
                Column::F64(values) => columns.set_item(name, Array::from_vec(py, values))?,
            }
        }
        by_name.set_item(table.name, columns)?;
    }
    Ok(by_name)
}
