//! Runs in the emulator.

use std::sync::{Arc, Mutex, PoisonError};

use airpath_emu::{Emulated, EmulationError, Options, Validity};
use airpath_sim::plan::Plan;
use airpath_sim::{Input, RunControl};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::simulation::{Handed, PlanError, RunCancelled, hand_over};
use crate::trace::Trace;

/// One run in real time: a plan (JSON) with controllers of the kernel, the traces that it refers to by number, a seed.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct EmulatedRun {
    plan: Mutex<Option<(Plan, Vec<Arc<Input>>)>>,
    seed: u64,
    control: RunControl,
}

#[pymethods]
impl EmulatedRun {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn new(plan: &str, traces: Vec<PyRef<'_, Trace>>, seed: u64) -> PyResult<Self> {
        let inputs: Vec<Arc<Input>> = traces.iter().map(|trace| trace.input()).collect();
        let plan = Plan::from_json(plan).map_err(|error| PlanError::new_err(error.to_string()))?;
        Ok(Self { plan: Mutex::new(Some((plan, inputs))), seed, control: RunControl::default() })
    }

    /// Runs to the end with the interpreter lock released. Can be called once.
    ///
    /// Returns what `Simulation.run` returns; the counts have also "validity": what was configured and achieved.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Handed<'py>> {
        let taken = self.plan.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (plan, inputs) = taken.ok_or_else(|| PyRuntimeError::new_err("a run can be run once"))?;
        let Emulated { outcome, validity, .. } = py
            .detach(|| airpath_emu::run(&plan, &inputs, self.seed, &Options::default(), &self.control))
            .map_err(|error| raised(&error))?;
        let handed = hand_over(py, outcome)?;
        handed.2.set_item("validity", told(py, &plan, &validity)?)?;
        Ok(handed)
    }

    /// Asks the run to stop soon; `run` then raises `RunCancelled`.
    fn cancel(&self) {
        self.control.cancel();
    }

    /// The share of the run that is done, 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        self.control.progress()
    }
}

fn raised(error: &EmulationError) -> PyErr {
    match error {
        EmulationError::Cancelled => RunCancelled::new_err(error.to_string()),
        EmulationError::Plan(_) | EmulationError::NotEmulated(_) => PlanError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// The record of validity as Python sees it; `None` stands for what has no value.
fn told<'py>(py: Python<'py>, plan: &Plan, validity: &Validity) -> PyResult<Bound<'py, PyDict>> {
    let finite = |value: f64| value.is_finite().then_some(value);
    let told = PyDict::new(py);
    told.set_item("valid", validity.is_valid())?;
    told.set_item("problems", &validity.problems)?;
    let lateness = PyDict::new(py);
    lateness.set_item("packets", validity.lateness.packets)?;
    lateness.set_item("p50_s", finite(validity.lateness.p50_s))?;
    lateness.set_item("p99_s", finite(validity.lateness.p99_s))?;
    lateness.set_item("max_s", finite(validity.lateness.max_s))?;
    told.set_item("lateness", lateness)?;
    told.set_item("longest_gap_s", validity.longest_gap_s)?;
    told.set_item("device_drops", validity.device_drops.to_vec())?;
    told.set_item("packets_unknown", validity.packets.unknown)?;
    let links = validity.links.iter().map(|link| {
        let row = PyDict::new(py);
        row.set_item("link", plan.links.get(link.link).map(|planned| planned.name.clone()))?;
        row.set_item("configured_bps", finite(link.configured_bps))?;
        row.set_item("carried_bps", finite(link.carried_bps))?;
        row.set_item("configured_delay_s", finite(link.configured_delay_s))?;
        row.set_item("configured_loss", finite(link.configured_loss))?;
        row.set_item("achieved_loss", finite(link.achieved_loss))?;
        Ok(row)
    });
    told.set_item("links", links.collect::<PyResult<Vec<_>>>()?)?;
    Ok(told)
}

/// The names of the congestion controls that the kernel has.
#[pyfunction]
pub(crate) fn kernel_congestion_controls() -> Vec<String> {
    airpath_emu::source::available_congestion_controls()
}
