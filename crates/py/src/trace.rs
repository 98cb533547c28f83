//! Recorded traces.

use std::sync::Arc;

use airpath_sim::Input;
use airpath_trace::{Direction, Format, ReadOptions, Statistics};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pyo3::create_exception!(
    _core,
    TraceFormatError,
    PyValueError,
    "The bytes are not a trace; arguments: message, line number (0 where no line is at fault)."
);

/// A trace read from the bytes of a file.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct Trace {
    series: airpath_trace::Trace,
    input: Arc<Input>,
    format: Format,
}

impl Trace {
    pub(crate) fn input(&self) -> Arc<Input> {
        Arc::clone(&self.input)
    }
}

#[pymethods]
impl Trace {
    /// Reads a trace. `format` is a name from `formats()`, or None to detect it; `direction` is "down" or "up" for
    /// formats that hold both.
    #[staticmethod]
    #[pyo3(signature = (data, format=None, direction="down", drop_ping_rows=false))]
    fn read(
        py: Python<'_>,
        data: &[u8],
        format: Option<&str>,
        direction: &str,
        drop_ping_rows: bool,
    ) -> PyResult<Self> {
        let direction = match direction {
            "down" => Direction::Down,
            "up" => Direction::Up,
            other => return Err(PyValueError::new_err(format!("direction {other:?}; accepted: down, up"))),
        };
        let format = match format {
            Some(name) => {
                Some(name.parse::<Format>().map_err(|error| PyValueError::new_err(error.to_string()))?)
            }
            None => None,
        };
        py.detach(|| {
            let format = format.map_or_else(|| airpath_trace::detect(data), Ok)?;
            let options = ReadOptions { format: Some(format), direction, drop_ping_rows };
            let trace = airpath_trace::read(data, &options)?;
            Ok(Self { input: Arc::new(Input::from(&trace)), series: trace, format })
        })
        .map_err(|error: airpath_trace::TraceError| {
            TraceFormatError::new_err((error.to_string(), error.line))
        })
    }

    /// The names of all formats.
    #[staticmethod]
    fn formats() -> Vec<&'static str> {
        Format::ALL.iter().map(|format| format.name()).collect()
    }

    /// The format that was read.
    #[getter]
    fn format(&self) -> &'static str {
        self.format.name()
    }

    /// "opportunities" or "rates".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.series {
            airpath_trace::Trace::Opportunities { .. } => "opportunities",
            airpath_trace::Trace::Rates { .. } => "rates",
        }
    }

    /// Duration, rates over 100 ms bins, longest outage, largest step; seconds and bits per second.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let statistics = py.detach(|| Statistics::of(&self.series));
        let result = PyDict::new(py);
        result.set_item("duration_s", statistics.duration_ns as f64 / 1e9)?;
        result.set_item("mean_bps", statistics.mean_bps)?;
        result.set_item("min_bps", statistics.min_bps)?;
        result.set_item("p5_bps", statistics.p5_bps)?;
        result.set_item("p50_bps", statistics.p50_bps)?;
        result.set_item("p95_bps", statistics.p95_bps)?;
        result.set_item("max_bps", statistics.max_bps)?;
        let outage = statistics.longest_outage;
        result.set_item("longest_outage_s", outage.map_or(0.0, |outage| outage.duration_ns as f64 / 1e9))?;
        result.set_item("longest_outage_at_s", outage.map(|outage| outage.start_ns as f64 / 1e9))?;
        result.set_item("largest_step_bps", statistics.largest_step_bps)?;
        Ok(result)
    }

    /// The mean rate over bins of `bin_s` seconds: (start in seconds, bits per second) for each.
    fn rates(&self, py: Python<'_>, bin_s: f64) -> PyResult<Vec<(f64, f64)>> {
        let points = py.detach(|| airpath_trace::to_rates(&self.series, nanoseconds(bin_s)));
        match points.map_err(refused)? {
            airpath_trace::Trace::Rates { points, .. } => {
                Ok(points.into_iter().map(|(start, rate)| (start as f64 / 1e9, rate as f64)).collect())
            }
            airpath_trace::Trace::Opportunities { .. } => Ok(Vec::new()),
        }
    }

    /// The trace as packet-delivery opportunities in Mahimahi's form.
    fn to_mahimahi(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| airpath_trace::write_mahimahi(&self.series)).map_err(refused)
    }

    /// The trace as a rate log; opportunities are averaged over bins of `bin_s` seconds.
    #[pyo3(signature = (bin_s=0.1))]
    fn to_csv(&self, py: Python<'_>, bin_s: f64) -> PyResult<String> {
        py.detach(|| airpath_trace::write_airpath_csv(&self.series, nanoseconds(bin_s))).map_err(refused)
    }
}

/// Negative and NaN give zero, which the conversions refuse.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9 + 0.5) as u64
}

fn refused(error: airpath_trace::ConversionError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
