//! Environments for reinforcement learning: many runs, step by step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airpath_sim::plan::Plan;
use airpath_sim::{Action, Components, Input, NotReady, RunControl, Step};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::plugins::{Failure, Plugin, PluginComponents, components};
use crate::simulation::{Handed, RunCancelled, hand_over, refused};
use crate::trace::Trace;

/// Episodes side by side: each a run with one flow that an agent steers.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct Episodes {
    places: Mutex<airpath_sim::Episodes>,
    /// The fault of a component of the user in each place.
    failures: Mutex<Vec<Option<Arc<Failure>>>>,
    count: usize,
}

impl Episodes {
    /// Locks the episodes. Call it with the interpreter lock released, because another thread may hold it for a whole step.
    fn lock(&self) -> MutexGuard<'_, airpath_sim::Episodes> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, Vec<Option<Arc<Failure>>>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_ready(error: NotReady) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Episodes {
    #[new]
    fn new(count: usize) -> Self {
        let failures = Mutex::new(vec![None; count]);
        Self { places: Mutex::new(airpath_sim::Episodes::new(count)), failures, count }
    }

    /// The names of the columns that `step` gives, with their units.
    #[staticmethod]
    fn quantities() -> Vec<&'static str> {
        Step::QUANTITIES.to_vec()
    }

    /// Replaces the run in a place: a plan (JSON), the traces that it refers to, a seed, and the
    /// components of the user that the plan names.
    #[pyo3(signature = (index, plan, traces, seed, plugins=Vec::new()))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn begin(
        &self,
        py: Python<'_>,
        index: usize,
        plan: &str,
        traces: Vec<PyRef<'_, Trace>>,
        seed: u64,
        plugins: Vec<Plugin>,
    ) -> PyResult<()> {
        let inputs: Vec<Arc<Input>> = traces.iter().map(|trace| trace.input()).collect();
        let new = |components: &Components| {
            airpath_sim::Simulation::with_components(&Plan::from_json(plan)?, &inputs, seed, components)
        };
        let failure = (!plugins.is_empty()).then(|| Arc::new(Failure::new(Arc::default())));
        let run = match &failure {
            None => py.detach(|| new(airpath_sim::components())),
            Some(failure) => {
                let PluginComponents { components, .. } = components(py, plugins, failure)?;
                let run = new(&components);
                failure.take(py).map_or(Ok(()), Err)?;
                run
            }
        };
        let run = run.map_err(refused)?;
        py.detach(|| self.lock().begin(index, run)).map_err(not_ready)?;
        self.failures()[index] = failure;
        Ok(())
    }

    /// Does one step of `length_ns` in each place whose `chosen` is true, with the interpreter lock released.
    ///
    /// `windows` are bytes of payload, `rates` bits of payload per second or NaN for none. Gives a row for each place, with
    /// the columns of `quantities`; NaN where no step was done.
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn step<'py>(
        &self,
        py: Python<'py>,
        chosen: PyReadonlyArray1<'py, bool>,
        windows: PyReadonlyArray1<'py, f64>,
        rates: PyReadonlyArray1<'py, f64>,
        length_ns: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (chosen, windows, rates) = (chosen.as_slice()?, windows.as_slice()?, rates.as_slice()?);
        let count = self.count;
        if [chosen.len(), windows.len(), rates.len()] != [count; 3] {
            return Err(PyValueError::new_err(format!("accepted: {count} values each")));
        }
        let action = |index: usize| Action { window_bytes: windows[index], pacing_bps: rates[index] };
        let actions: Vec<_> = (0..count).map(|index| chosen[index].then(|| action(index))).collect();
        let steps = py.detach(|| self.lock().step(&actions, length_ns, threads)).map_err(not_ready)?;
        let failed = self
            .failures()
            .iter()
            .enumerate()
            .find_map(|(index, failure)| Some((index, failure.as_ref()?.take(py)?)));
        if let Some((index, failed)) = failed {
            failed.value(py).setattr("index", index)?;
            return Err(failed);
        }
        let unknown = [f64::NAN; Step::QUANTITIES.len()];
        let values: Vec<f64> = steps.into_iter().flat_map(|step| step.unwrap_or(unknown)).collect();
        PyArray1::from_vec(py, values).reshape([count, unknown.len()])
    }

    /// Runs an episode to the end of its plan with the last action, and returns the results of a run. The place is then
    /// empty.
    fn finish<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Handed<'py>> {
        let run = py.detach(|| self.lock().take(index)).map_err(not_ready)?;
        let outcome = py.detach(|| run.run(&RunControl::default()));
        let failure = self.failures()[index].take();
        failure.and_then(|failure| failure.take(py)).map_or(Ok(()), Err)?;
        hand_over(py, outcome.map_err(|error| RunCancelled::new_err(error.to_string()))?, &[])
    }

    /// Lets all episodes go.
    fn clear(&self, py: Python<'_>) {
        py.detach(|| self.lock().clear());
    }
}
