//! Emulations in which commands run, and their results as Python objects.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use airpath_emu::{Connections, Emulated, EmulationError, Options, Side, Validity};
use airpath_sim::plan::Plan;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::simulation::{RunCancelled, refused, tables};
use crate::trace::Trace;

pyo3::create_exception!(
    _core,
    EmulationFailed,
    PyRuntimeError,
    "The system refuses something that emulations need."
);

/// An emulation under way: a plan (JSON), the traces that it refers to by number, and a seed.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct Emulation {
    emulation: Mutex<Option<airpath_emu::Emulation>>,
}

/// Tables, names of quantities, the capture of links, the records of validity and of connections, and why the capture of
/// hosts is not whole.
type Stopped<'py> = (
    Bound<'py, PyDict>,
    Vec<String>,
    Option<Bound<'py, PyBytes>>,
    Bound<'py, PyDict>,
    Option<Bound<'py, PyDict>>,
    Option<String>,
);

/// A command that runs in a host of an emulation.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct EmulatedProcess {
    child: Mutex<Child>,
}

#[pymethods]
impl Emulation {
    /// Makes the hosts and starts. `capture` is (file, sides) or None; sides are "senders" and "receivers". `connections`
    /// are two flows of the plan that take opposite ways: TCP connections of the first one's addresses become flows of
    /// their own, and the two stand for all else that senders and receivers send.
    #[new]
    #[pyo3(signature = (plan, traces, seed, capture=None, connections=None))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn new(
        py: Python<'_>,
        plan: &str,
        traces: Vec<PyRef<'_, Trace>>,
        seed: u64,
        capture: Option<(PathBuf, Vec<String>)>,
        connections: Option<[u32; 2]>,
    ) -> PyResult<Self> {
        let inputs: Vec<_> = traces.iter().map(|trace| trace.input()).collect();
        let capture = capture
            .map(|(path, sides)| {
                let sides = sides.iter().map(|name| side(name)).collect::<PyResult<Vec<Side>>>()?;
                Ok::<_, PyErr>((path, sides))
            })
            .transpose()?;
        let options = Options { capture, connections, ..Options::default() };
        let emulation = py
            .detach(|| airpath_emu::Emulation::start(&Plan::from_json(plan)?, &inputs, seed, &options))
            .map_err(failed)?;
        Ok(Self { emulation: Mutex::new(Some(emulation)) })
    }

    /// Starts a command in a host, with variables added to its environment. With `output`, the path of a file, it writes
    /// there, has no input, and is out of the way of Ctrl-C; `to_stderr` makes its output go where its errors go.
    #[pyo3(signature = (host, command, environment, output=None, to_stderr=false))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn spawn(
        &self,
        py: Python<'_>,
        host: &str,
        command: Vec<String>,
        environment: BTreeMap<String, String>,
        output: Option<PathBuf>,
        to_stderr: bool,
    ) -> PyResult<EmulatedProcess> {
        let host = side(host)?;
        let (name, arguments) =
            command.split_first().ok_or_else(|| PyValueError::new_err("a command has at least a name"))?;
        let mut command = Command::new(name);
        command.args(arguments).envs(environment);
        if let Some(path) = output {
            let file = File::create(path)?;
            command.process_group(0).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        } else if to_stderr {
            command.stdout(std::io::stderr());
        }
        let spawn = || self.running().as_ref().ok_or_else(over)?.spawn(host, &mut command).map_err(failed);
        Ok(EmulatedProcess { child: Mutex::new(py.detach(spawn)?) })
    }

    /// Whether a program listens in a host, on TCP or UDP.
    fn is_listening(&self, py: Python<'_>, host: &str) -> PyResult<bool> {
        let host = side(host)?;
        py.detach(|| self.running().as_ref().ok_or_else(over)?.host(host).is_listening().map_err(failed))
    }

    /// Seconds since the start of the emulation.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        Ok(self.running().as_ref().ok_or_else(over)?.clock().now().as_secs_f64())
    }

    /// Whether the plan's duration is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.running().as_ref().is_none_or(airpath_emu::Emulation::is_over)
    }

    /// Ends it, and everything that runs in its hosts.
    ///
    /// Returns (tables, quantities, capture, validity, connections, unwritten): the first three as a simulation gives them, validity as
    /// {name: value}, with "problems", a list of texts that is empty when the results can be trusted; of connections
    /// "flows", a list of what each side sent in one, and how the kernel was asked, or None if they were no flows.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Stopped<'py>> {
        let emulation = self.running().take().ok_or_else(over)?;
        let Emulated { outcome, validity, lasted, connections, unwritten } =
            py.detach(|| emulation.stop(None)).map_err(failed)?;
        let tables = tables(py, outcome.tables, outcome.flow_series)?;
        let connections =
            connections.map(|connections| record_of_connections(py, &connections)).transpose()?;
        let capture = outcome.capture.map(|capture| PyBytes::new(py, &capture));
        let validity = record(py, &validity, lasted.as_secs_f64())?;
        Ok((tables, outcome.quantities, capture, validity, connections, unwritten))
    }
}

impl Emulation {
    fn running(&self) -> MutexGuard<'_, Option<airpath_emu::Emulation>> {
        self.emulation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl EmulatedProcess {
    /// Its exit code, or minus the number of the signal that killed it; None while it runs.
    fn poll(&self) -> PyResult<Option<i32>> {
        let status = self.child().try_wait()?;
        Ok(status.map(|status| status.code().unwrap_or_else(|| -status.signal().unwrap_or_default())))
    }

    /// Kills it.
    fn kill(&self) -> PyResult<()> {
        Ok(self.child().kill()?)
    }
}

impl EmulatedProcess {
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes this process root in a user namespace; nothing for root. First of all: only while there is one thread.
#[pyfunction]
pub(crate) fn become_root_in_user_namespace() -> PyResult<()> {
    airpath_emu::become_root_in_user_namespace().map_err(failed)
}

/// Makes two hosts and takes them away again: raises where that is not possible.
#[pyfunction]
pub(crate) fn try_emulated_hosts(py: Python<'_>) -> PyResult<()> {
    py.detach(airpath_emu::Hosts::new).map(drop).map_err(failed)
}

/// Makes the queue of a router of the kernel and takes it away again: raises where that is not possible.
#[pyfunction]
pub(crate) fn try_kernel_router(py: Python<'_>) -> PyResult<()> {
    py.detach(airpath_emu::Router::tried).map_err(failed)
}

/// The rights that the link thread would get: (real time, processor or None, refused rights).
#[pyfunction]
pub(crate) fn try_emulation_scheduling(py: Python<'_>) -> (bool, Option<usize>, String) {
    let granted = py.detach(airpath_emu::Scheduling::tried);
    (granted.realtime, granted.processor, granted.refused)
}

/// The share of a time for which this machine keeps a thread that must be on time from its processor.
#[pyfunction]
pub(crate) fn held_up(py: Python<'_>, milliseconds: u64) -> f64 {
    py.detach(|| airpath_emu::held_up(Duration::from_millis(milliseconds)))
}

/// The record of an emulation's accuracy, as {name: value}.
pub(crate) fn record<'py>(
    py: Python<'py>,
    validity: &Validity,
    lasted_s: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let Validity { problems, measured, links: records } = validity;
    let result = PyDict::new(py);
    result.set_item("lasted_s", lasted_s)?;
    result.set_item("problems", problems)?;
    result.set_item("realtime", measured.scheduling.realtime)?;
    result.set_item("processor", measured.scheduling.processor)?;
    result.set_item("refused", &measured.scheduling.refused)?;
    let lateness = measured.lateness;
    for (name, value) in [
        ("lateness_mean_s", lateness.mean_s),
        ("lateness_p50_s", lateness.p50_s),
        ("lateness_p99_s", lateness.p99_s),
        ("lateness_max_s", lateness.max_s),
        ("longest_gap_s", measured.longest_gap_s),
        ("unseen_share", measured.unseen_share),
    ] {
        result.set_item(name, value)?;
    }
    let packets = measured.packets;
    for (name, value) in [
        ("sent_packets", packets.sent),
        ("unknown_packets", packets.unknown),
        ("delivered_packets", packets.delivered),
        ("lost_packets", packets.lost),
        ("inside_packets", packets.inside),
        ("late_packets", lateness.late_packets),
        ("refused_packets", lateness.refused_packets),
    ] {
        result.set_item(name, value)?;
    }
    for side in Side::BOTH {
        let (name, index) = (side.name(), side.index());
        result.set_item(format!("device_drops_{name}"), measured.device_drops[index])?;
        result.set_item(format!("worst_second_{name}"), measured.worst_second[index])?;
        result.set_item(format!("lateness_p50_{name}_s"), measured.median_s[index])?;
    }
    let links = PyList::empty(py);
    for link in records {
        let row = PyDict::new(py);
        row.set_item("link", link.link)?;
        row.set_item("configured_bps", link.configured_bps)?;
        row.set_item("carried_bps", link.carried_bps)?;
        row.set_item("configured_delay_s", link.configured_delay_s)?;
        row.set_item("achieved_delay_s", link.achieved_delay_s)?;
        row.set_item("configured_loss", link.configured_loss)?;
        row.set_item("achieved_loss", link.achieved_loss)?;
        row.set_item("damaged_packets", link.damage.map(|damage| damage.damaged))?;
        row.set_item("expected_damaged_packets", link.damage.map(|damage| damage.expected))?;
        links.append(row)?;
    }
    result.set_item("links", links)?;
    let routers = PyList::empty(py);
    for router in &measured.routers {
        let row = PyDict::new(py);
        row.set_item("link", router.link)?;
        row.set_item("rate_changes", router.changes)?;
        row.set_item("latest_rate_change_s", router.latest_change_s)?;
        row.set_item("vanished_packets", router.vanished)?;
        row.set_item("stranger_packets", router.strangers)?;
        row.set_item("worst_second", router.worst_second)?;
        row.set_item("early_bytes", router.early_bytes)?;
        row.set_item("observed_intervals", router.observed)?;
        row.set_item("unobserved_intervals", router.unobserved)?;
        routers.append(row)?;
    }
    result.set_item("routers", routers)?;
    Ok(result)
}

/// The facts of connections that are not in the tables.
fn record_of_connections<'py>(py: Python<'py>, connections: &Connections) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let flows = PyList::empty(py);
    for flow in &connections.flows {
        let row = PyDict::new(py);
        let end = |side: Side| flow.connection.0[side.index()].to_string();
        row.set_item("flow", flow.flow)?;
        row.set_item("host", flow.from.name())?;
        row.set_item("sender", end(flow.from))?;
        row.set_item("receiver", end(flow.from.other()))?;
        row.set_item("congestion_control", &flow.congestion_control)?;
        row.set_item("busy_s", flow.busy_s)?;
        row.set_item("told", flow.told)?;
        flows.append(row)?;
    }
    result.set_item("flows", flows)?;
    result.set_item("beyond_packets", connections.beyond_packets)?;
    let sampled = &connections.sampled;
    result.set_item("samples", sampled.times)?;
    result.set_item("sampling_mean_s", sampled.mean_s)?;
    result.set_item("sampling_max_s", sampled.max_s)?;
    result.set_item("late_samples", sampled.late)?;
    result.set_item("own_socket_table", sampled.own_table)?;
    result.set_item("missing", &sampled.missing)?;
    Ok(result)
}

fn side(name: &str) -> PyResult<Side> {
    Side::BOTH
        .into_iter()
        .find(|side| side.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("host {name:?}; accepted: senders, receivers")))
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the emulation is over")
}

/// Converts an error to a Python exception.
pub(crate) fn failed(error: impl Into<EmulationError>) -> PyErr {
    match error.into() {
        EmulationError::Plan(error) | EmulationError::NotEmulated(error) => refused(error),
        EmulationError::Cancelled => RunCancelled::new_err("cancelled"),
        EmulationError::System(error) => EmulationFailed::new_err(error.to_string()),
        other => PyOSError::new_err(other.to_string()),
    }
}
