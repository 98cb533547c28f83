//! Logs of `mm-link` and of Pantheon's tunnels.

use std::path::PathBuf;

use airpath_trace::link_log::{LinkLog, read_link_log as read};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::capture::read_watched;

pyo3::create_exception!(_core, LinkLogFormatError, PyValueError, "The bytes are no log of a link.");

/// Reads a log of a link, plain or compressed by gzip, with the interpreter lock released.
///
/// Returns the facts of the file, and for each kind of event {column: little-endian bytes}; times in nanoseconds.
#[pyfunction]
#[pyo3(signature = (path, on_progress = None))]
pub(crate) fn read_link_log(
    py: Python<'_>,
    path: PathBuf,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyDict>> {
    let log = read_watched(py, path, on_progress, |file| {
        read(file).map_err(|error| LinkLogFormatError::new_err(error.to_string()))
    })?;
    handed(py, &log)
}

fn handed<'py>(py: Python<'py>, log: &LinkLog) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("base_ns", log.base_ns)?;
    result.set_item("names_flows", log.names_flows)?;
    result.set_item("stopped_at_line", log.stopped.as_ref().map(|stopped| stopped.line))?;
    result.set_item("stopped_because", log.stopped.as_ref().map(|stopped| stopped.reason.as_str()))?;
    let LinkLog { opportunities, arrivals, departures, drops, .. } = log;
    result.set_item(
        "opportunities",
        columns(py, [("time_ns", &opportunities.time_ns)], [("bytes", &opportunities.bytes)])?,
    )?;
    result.set_item(
        "arrivals",
        columns(
            py,
            [("time_ns", &arrivals.time_ns)],
            [("bytes", &arrivals.bytes), ("flow", &arrivals.flow)],
        )?,
    )?;
    result.set_item(
        "departures",
        columns(
            py,
            [("time_ns", &departures.time_ns), ("delay_ns", &departures.delay_ns)],
            [("bytes", &departures.bytes), ("flow", &departures.flow)],
        )?,
    )?;
    result.set_item(
        "drops",
        columns(py, [("time_ns", &drops.time_ns)], [("packets", &drops.packets), ("bytes", &drops.bytes)])?,
    )?;
    Ok(result)
}

fn columns<'py, const T: usize, const C: usize>(
    py: Python<'py>,
    times: [(&str, &Vec<i64>); T],
    counts: [(&str, &Vec<u32>); C],
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for (name, column) in times {
        result.set_item(name, PyBytes::new(py, bytemuck::cast_slice(column)))?;
    }
    for (name, column) in counts {
        result.set_item(name, PyBytes::new(py, bytemuck::cast_slice(column)))?;
    }
    Ok(result)
}
