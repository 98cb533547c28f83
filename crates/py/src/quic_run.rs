//! Whole scenarios over a QUIC stack, in simulated time.

use std::sync::{Arc, Mutex, PoisonError};

use airpath_quic::RunError;
use airpath_sim::plan::Plan;
use airpath_sim::{Input, RunControl};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::simulation::{Handed, RunCancelled, hand_over, refused};
use crate::trace::Trace;

/// One run over quinn: a plan (JSON), the traces that it refers to by number, and a seed.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct QuicRun {
    run: Mutex<Option<airpath_quic::QuicRun>>,
    control: RunControl,
}

#[pymethods]
impl QuicRun {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn new(py: Python<'_>, plan: &str, traces: Vec<PyRef<'_, Trace>>, seed: u64) -> PyResult<Self> {
        let inputs: Vec<Arc<Input>> = traces.iter().map(|trace| trace.input()).collect();
        let run = py
            .detach(|| airpath_quic::QuicRun::new(&Plan::from_json(plan)?, &inputs, seed))
            .map_err(refused)?;
        Ok(Self { run: Mutex::new(Some(run)), control: RunControl::default() })
    }

    /// Runs to the end with the interpreter lock released. Can be called once.
    ///
    /// Returns what `Simulation.run` returns.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Handed<'py>> {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).take();
        let run = run.ok_or_else(|| PyRuntimeError::new_err("a run can be run once"))?;
        let outcome = py.detach(|| run.run(&self.control)).map_err(|error| match error {
            RunError::Cancelled => RunCancelled::new_err(error.to_string()),
            _ => PyRuntimeError::new_err(error.to_string()),
        })?;
        hand_over(py, outcome)
    }

    /// Asks the run to stop soon; `run` then raises `RunCancelled`.
    fn cancel(&self) {
        self.control.cancel();
    }

    /// The share of simulated time that is done, 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        self.control.progress()
    }
}
