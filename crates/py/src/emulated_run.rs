//! Whole scenarios in the emulator: what a plan sends, over real sockets.

use std::sync::{Arc, Mutex, PoisonError};

use airpath_emu::{DEVICE, Emulated, EmulationError, Hosts, Options, Side};
use airpath_sim::plan::Plan;
use airpath_sim::{Input, RunControl, flow_logs};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::emulation::{failed, record};
use crate::simulation::{Handed, hand_over, refused};
use crate::trace::Trace;

/// One run in real time: a plan (JSON) with controllers of the kernel, the traces that it refers to by number, a seed.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct EmulatedRun {
    plan: Mutex<Option<(Plan, Vec<Arc<Input>>)>>,
    seed: u64,
    control: RunControl,
    prepare: Option<Py<PyAny>>,
    routers: Vec<usize>,
}

#[pymethods]
impl EmulatedRun {
    /// `routers` are the links of the plan whose queue and rate are those of a router of the kernel. `prepare`, if there is
    /// one, is called before the run starts with the files of both hosts' network namespaces, the name of their devices, and
    /// (link, file of its network namespace) for each router, whose device has the same name.
    #[new]
    #[pyo3(signature = (plan, traces, seed, prepare=None, routers=vec![]))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn new(
        plan: &str,
        traces: Vec<PyRef<'_, Trace>>,
        seed: u64,
        prepare: Option<Py<PyAny>>,
        routers: Vec<usize>,
    ) -> PyResult<Self> {
        let inputs: Vec<Arc<Input>> = traces.iter().map(|trace| trace.input()).collect();
        let plan = Plan::from_json(plan).map_err(refused)?;
        let control = RunControl::default();
        Ok(Self { plan: Mutex::new(Some((plan, inputs))), seed, control, prepare, routers })
    }

    /// Runs to the end with the interpreter lock released. Can be called once.
    ///
    /// Returns what `Simulation.run` returns; the counts have also "validity": what was configured and achieved.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Handed<'py>> {
        let taken = self.plan.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (plan, inputs) = taken.ok_or_else(|| PyRuntimeError::new_err("a run can be run once"))?;
        let Emulated { outcome, validity, lasted, .. } = py
            .detach(|| {
                let options = Options { routers: self.routers.clone(), ..Options::default() };
                let prepare = |hosts: &Hosts| self.prepare(hosts);
                airpath_emu::run(&plan, &inputs, self.seed, &options, &self.control, prepare)
            })
            .map_err(failed)?;
        let logs = py.detach(|| flow_logs(&plan, &outcome));
        let handed = hand_over(py, outcome, &logs)?;
        handed.2.set_item("validity", record(py, &validity, lasted.as_secs_f64())?)?;
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

impl EmulatedRun {
    fn prepare(&self, hosts: &Hosts) -> Result<(), EmulationError> {
        let Some(prepare) = &self.prepare else { return Ok(()) };
        let namespaces = Side::BOTH.map(|side| hosts.host(side).namespace_path());
        let routers: Vec<_> =
            hosts.routers().iter().map(|router| (router.link(), router.namespace_path())).collect();
        Python::attach(|py| {
            let done = prepare.call1(py, (namespaces.to_vec(), DEVICE, routers));
            done.map(drop).map_err(|error| EmulationError::NotPrepared(error.value(py).to_string()))
        })
    }
}

/// The names of the congestion controls that the kernel has.
#[pyfunction]
pub(crate) fn kernel_congestion_controls() -> Vec<String> {
    airpath_emu::source::available_congestion_controls()
}
