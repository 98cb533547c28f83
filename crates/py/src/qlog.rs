//! Logs of QUIC.

use std::path::PathBuf;

use airpath_replay::{LOGGED_COLUMNS, QlogAnalysis, QlogFlow, analyse_qlog as analyse};
use airpath_trace::qlog::looks_like_qlog;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::capture::{CaptureFormatError, Replay, estimates, series};
use crate::diagnosis::diagnosis;
use crate::plugins::Plugin;

/// Whether a file that begins with these bytes, decompressed, is read as a log of QUIC.
#[pyfunction]
pub(crate) fn is_qlog(first: &[u8]) -> bool {
    looks_like_qlog(first)
}

/// Reads a log of QUIC (qlog) and replays its connections into estimators, as `analyse_capture` does with captures.
///
/// Returns the same, but for what only TCP has; "logged" are columns of the series that the log itself says.
#[pyfunction]
#[pyo3(signature = (path, estimators, on_progress = None, plugins = Vec::new()))]
pub(crate) fn analyse_qlog(
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

fn handed<'py>(py: Python<'py>, analysis: &QlogAnalysis) -> PyResult<Bound<'py, PyDict>> {
    let (result, report) = (PyDict::new(py), PyDict::new(py));
    let read = &analysis.report;
    report.set_item("version", &read.version)?;
    report.set_item("events", read.events)?;
    report.set_item("given", read.given)?;
    report.set_item("incomplete", read.incomplete)?;
    report.set_item("broken", read.broken)?;
    report.set_item("first_broken_line", read.first_broken.as_ref().map(|damage| damage.line))?;
    report
        .set_item("first_broken_because", read.first_broken.as_ref().map(|damage| damage.problem.as_str()))?;
    report.set_item("stopped_at_line", read.stopped.as_ref().map(|damage| damage.line))?;
    report.set_item("stopped_because", read.stopped.as_ref().map(|damage| damage.problem.as_str()))?;
    report.set_item("not_followed", analysis.not_followed)?;
    result.set_item("report", report)?;
    result.set_item("silent", analysis.silent)?;
    let flows = analysis.flows.iter().map(|result| flow(py, result)).collect::<PyResult<Vec<_>>>()?;
    result.set_item("flows", PyList::new(py, flows)?)?;
    Ok(result)
}

fn flow<'py>(py: Python<'py>, flow: &QlogFlow) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("title", &flow.title)?;
    row.set_item("group", &flow.group)?;
    row.set_item("vantage_point", &flow.vantage_point)?;
    row.set_item("is_sender", flow.is_sender)?;
    row.set_item("start_ns", flow.start_ns)?;
    row.set_item("duration_ns", flow.duration_ns)?;
    row.set_item("packets", flow.packets)?;
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
    row.set_item("mss", flow.mss)?;
    row.set_item("lost_packets", flow.lost_packets)?;
    row.set_item("says_losses", flow.says_losses)?;
    row.set_item("loss_runs", &flow.loss_runs)?;
    row.set_item("recoveries", flow.recoveries)?;
    row.set_item("without_size", flow.without_size)?;
    row.set_item("restarts", flow.restarts)?;
    row.set_item("estimates", estimates(py, &flow.estimates)?)?;
    let said = series(py, &flow.series, flow.estimates.len())?;
    let logged = PyDict::new(py);
    for (name, column) in LOGGED_COLUMNS.iter().zip(&flow.series.estimates[flow.estimates.len()..]) {
        logged.set_item(*name, PyBytes::new(py, bytemuck::cast_slice(column)))?;
    }
    said.set_item("logged", logged)?;
    row.set_item("series", said)?;
    row.set_item("diagnosis", diagnosis(py, &flow.diagnosis)?)?;
    Ok(row)
}
