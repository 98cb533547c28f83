//! Packet captures.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use airpath_estimate::declare::AckRates;
use airpath_model::declare::ComponentPlan;
use airpath_replay::{Analysis, EstimateResult, FlowResult, NamedEstimator, Options, Series, analyse};
use airpath_trace::capture::ReadReport;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::diagnosis::{diagnosis, sums};
use crate::plugins::{Failure, Plugin, PluginComponents, components};
use crate::simulation::PlanError;

pyo3::create_exception!(_core, CaptureFormatError, PyValueError, "The bytes are not a capture.");

/// How many bytes are read before Python is asked again: a hundredth of a second's work.
const LOOK_EVERY: u64 = 1 << 20;

/// A file that lets Python speak while it is read: signals, so that Ctrl-C ends long reading, and who watches progress.
pub(crate) struct Watched {
    file: File,
    read: u64,
    next_look: u64,
    on_progress: Option<Py<PyAny>>,
    /// The failure of an estimator of the user, which ends reading.
    failure: Option<Arc<Failure>>,
    /// What Python raised; reading ends with it.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read >= self.next_look {
            self.next_look = self.read + LOOK_EVERY;
            if self.failure.as_ref().is_some_and(|failure| failure.is_set()) {
                return Err(io::Error::other("an estimator failed"));
            }
            let heard = Python::attach(|py| {
                py.check_signals()?;
                self.on_progress
                    .as_ref()
                    .map_or(Ok(()), |callable| callable.call1(py, (self.read,)).map(drop))
            });
            if let Err(error) = heard {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return Err(io::Error::other("ended by Python"));
            }
        }
        let count = self.file.read(buffer)?;
        self.read += count as u64;
        Ok(count)
    }
}

/// Reads a capture and replays its flows into estimators (name, and plan as JSON), with the interpreter lock released between
/// calls of estimators in Python. `plugins` are estimators of the user.
/// `on_progress` is called repeatedly with the number of bytes that were read of the file.
///
/// Returns {"report": …, "flows": [{…, "estimates": […], "series": {column: little-endian bytes}, "diagnosis": …}], "sums": […]}; times
/// in nanoseconds, rates in bit/s, None where there is no value.
#[pyfunction]
#[pyo3(signature = (path, estimators, on_progress = None, plugins = Vec::new()))]
pub(crate) fn analyse_capture(
    py: Python<'_>,
    path: PathBuf,
    estimators: Vec<(String, String)>,
    on_progress: Option<Py<PyAny>>,
    plugins: Vec<Plugin>,
) -> PyResult<Bound<'_, PyDict>> {
    let replay = Replay { path, estimators, on_progress, plugins };
    let analysis = replay.run(py, |file, options| {
        analyse(file, options).map_err(|error| CaptureFormatError::new_err(error.to_string()))
    })?;
    handed(py, &analysis)
}

/// A file that is to be replayed, as Python asks for it.
pub(crate) struct Replay {
    pub(crate) path: PathBuf,
    /// Name, and plan as JSON.
    pub(crate) estimators: Vec<(String, String)>,
    pub(crate) on_progress: Option<Py<PyAny>>,
    /// Estimators of the user.
    pub(crate) plugins: Vec<Plugin>,
}

impl Replay {
    /// Analyses it with the interpreter lock released.
    pub(crate) fn run<T: Send>(
        self,
        py: Python<'_>,
        analyse: impl FnOnce(Watched, &Options) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        let Self { path, estimators, on_progress, plugins } = self;
        let failure = Arc::new(Failure::new(Arc::default()));
        let of_user: Vec<_> = plugins.iter().map(|(_, id, ..)| id.clone()).collect();
        let PluginComponents { components, .. } = components(py, plugins, &failure)?;
        let wrong = |problem: String| PlanError::new_err(problem);
        let estimators = estimators
            .into_iter()
            .map(|(name, text)| {
                let plan: ComponentPlan<AckRates> =
                    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
                if of_user.iter().any(|id| *id == plan.kind) {
                    let estimator = components.control.ack_rates.build(&plan, &(), ());
                    return estimator
                        .map(|estimator| NamedEstimator::copied(name, estimator))
                        .map_err(|error| wrong(error.to_string()));
                }
                let config = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
                NamedEstimator::new(name, config).map_err(|error| wrong(error.to_string()))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let options = Options { estimators, ..Options::default() };
        let of_estimator = Arc::clone(&failure);
        let analysed = read_watched(py, path, on_progress, |mut file| {
            file.failure = Some(of_estimator);
            analyse(file, &options)
        });
        failure.take(py).map_or(analysed, Err)
    }
}

/// Reads a file with the interpreter lock released; what Python raises meanwhile ends it. `on_progress` is told now and then how many
/// bytes were read.
pub(crate) fn read_watched<T: Send>(
    py: Python<'_>,
    path: PathBuf,
    on_progress: Option<Py<PyAny>>,
    read: impl FnOnce(Watched) -> PyResult<T> + Send,
) -> PyResult<T> {
    let raised = Arc::new(Mutex::new(None));
    let result = py.detach(|| {
        let file = File::open(path).map_err(|error| PyOSError::new_err(error.to_string()))?;
        let raised = Arc::clone(&raised);
        read(Watched { file, read: 0, next_look: LOOK_EVERY, on_progress, failure: None, raised })
    });
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => result,
    }
}

fn handed<'py>(py: Python<'py>, analysis: &Analysis) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("report", report(py, &analysis.report)?)?;
    result.set_item("start_ns", analysis.start_ns)?;
    result.set_item("evicted", analysis.evicted)?;
    result.set_item("dropped", analysis.dropped)?;
    result.set_item("silent", analysis.silent)?;
    result.set_item("sums", sums(py, &analysis.flows)?)?;
    let flows = analysis.flows.iter().map(|result| flow(py, result)).collect::<PyResult<Vec<_>>>()?;
    result.set_item("flows", PyList::new(py, flows)?)?;
    Ok(result)
}

/// Returns the name of a link type that airpath does not read, from the registry of the tcpdump group.
fn link_type_name(number: i32) -> Option<&'static str> {
    Some(match number {
        6 => "Token Ring",
        8 => "SLIP",
        10 => "FDDI",
        100 => "ATM",
        104 => "Cisco HDLC",
        107 => "Frame Relay",
        119 => "Prism headers of IEEE 802.11",
        187 | 201 => "Bluetooth",
        189 | 220 => "USB",
        192 => "PPI",
        195 | 230 => "IEEE 802.15.4",
        _ => return None,
    })
}

fn report<'py>(py: Python<'py>, report: &ReadReport) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("packets", report.packets)?;
    result.set_item("bytes", report.bytes)?;
    result.set_item("tcp_packets", report.tcp_packets)?;
    let skipped = PyDict::new(py);
    let reasons = &report.skipped;
    for (reason, count) in [
        ("captured bytes end inside the headers", reasons.cut_short),
        ("not IP", reasons.not_ip),
        ("not TCP", reasons.not_tcp),
        ("IP fragments", reasons.fragments),
        ("encrypted by the link layer", reasons.encrypted),
        ("malformed headers", reasons.malformed),
        ("of an interface that is not described", reasons.without_interface),
        ("without a time", reasons.without_time),
    ] {
        if count > 0 {
            skipped.set_item(reason, count)?;
        }
    }
    for (number, count) in &reasons.link_types {
        let name = link_type_name(*number).map(|name| format!(" ({name})")).unwrap_or_default();
        skipped.set_item(format!("of link type {number}{name}, which airpath does not read"), count)?;
    }
    result.set_item("skipped", skipped)?;
    result.set_item("stopped_at", report.stopped.as_ref().map(|stopped| stopped.at_byte))?;
    result.set_item("stopped_because", report.stopped.as_ref().map(|stopped| stopped.reason.as_str()))?;
    Ok(result)
}

fn flow<'py>(py: Python<'py>, flow: &FlowResult) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("source", flow.source.to_string())?;
    row.set_item("destination", flow.destination.to_string())?;
    row.set_item("start_ns", flow.start_ns)?;
    row.set_item("duration_ns", flow.duration_ns)?;
    row.set_item("packets", flow.packets)?;
    row.set_item("vantage", flow.vantage.name())?;
    row.set_item("sender_answer_ns", flow.sender_answer_ns)?;
    row.set_item("receiver_answer_ns", flow.receiver_answer_ns)?;
    row.set_item("handshake", flow.handshake)?;
    row.set_item("window_scale", flow.window_scale)?;
    row.set_item("window_max", flow.window_max)?;
    row.set_item("sack", flow.sack)?;
    row.set_item("timestamps", flow.timestamps)?;
    row.set_item("clock_hz", flow.clock_hz)?;
    row.set_item("mss", flow.mss)?;
    row.set_item("data_packets", flow.data_packets)?;
    row.set_item("bytes", flow.bytes)?;
    row.set_item("reverse_bytes", flow.reverse_bytes)?;
    row.set_item("acked_bytes", flow.acked_bytes)?;
    row.set_item("acks", flow.acks)?;
    row.set_item("delivered_bps", flow.delivered_bps)?;
    row.set_item("rtt_samples", flow.rtt_samples)?;
    row.set_item("rtt_min_ns", flow.rtt_min_ns)?;
    row.set_item("rtt_median_ns", flow.rtt_median_ns)?;
    row.set_item("rtt_max_ns", flow.rtt_max_ns)?;
    row.set_item("retransmitted", flow.retransmitted)?;
    row.set_item("needless", flow.needless)?;
    row.set_item("reordered", flow.reordered)?;
    row.set_item("recoveries", flow.recoveries)?;
    row.set_item("timeouts", flow.timeouts)?;
    row.set_item("loss_runs", &flow.loss_runs)?;
    row.set_item("uncaptured_bytes", flow.uncaptured_bytes)?;
    row.set_item("ecn", flow.ecn.name())?;
    row.set_item("ect0", flow.ect0)?;
    row.set_item("ect1", flow.ect1)?;
    row.set_item("ce", flow.ce)?;
    row.set_item("ecn_echoes", flow.ecn_echoes)?;
    row.set_item("reported_marks", flow.reported_marks)?;
    row.set_item("backward_times", flow.backward_times)?;
    row.set_item("duplicates", flow.duplicates)?;
    row.set_item("restarts", flow.restarts)?;
    row.set_item("estimates", estimates(py, &flow.estimates)?)?;
    row.set_item("series", series(py, &flow.series, flow.estimates.len())?)?;
    row.set_item("diagnosis", diagnosis(py, &flow.diagnosis)?)?;
    Ok(row)
}

/// The estimates of each estimator.
pub(crate) fn estimates<'py>(py: Python<'py>, said: &[EstimateResult]) -> PyResult<Bound<'py, PyList>> {
    let entries = said.iter().map(|estimate| {
        let entry = PyDict::new(py);
        entry.set_item("name", &estimate.name)?;
        entry.set_item("mean_bps", estimate.mean_bps)?;
        entry.set_item("last_bps", estimate.last_bps)?;
        entry.set_item("missing", estimate.missing)?;
        Ok(entry)
    });
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}

/// A series with the columns of this number of estimators.
pub(crate) fn series<'py>(
    py: Python<'py>,
    series: &Series,
    estimators: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("start_ns", series.start_ns)?;
    result.set_item("width_ns", series.width_ns)?;
    for (name, column) in [
        ("acked", &series.acked),
        ("lost", &series.lost),
        ("retransmitted", &series.retransmitted),
        ("marks", &series.marks),
        ("rtt_min_ns", &series.rtt_min_ns),
        ("rtt_sum_ns", &series.rtt_sum_ns),
        ("rtt_samples", &series.rtt_samples),
    ] {
        result.set_item(name, PyBytes::new(py, bytemuck::cast_slice(column)))?;
    }
    let columns = series.estimates.iter().take(estimators);
    let estimates: Vec<_> = columns.map(|column| PyBytes::new(py, bytemuck::cast_slice(column))).collect();
    result.set_item("estimates", estimates)?;
    Ok(result)
}
