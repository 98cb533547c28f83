//! What the rate and the losses of a link come to, without a run.

use airpath_model::Duration;
use airpath_sim::PlanError;
use airpath_sim::plan::{Changes, RatePlan};
use pyo3::prelude::*;

use crate::simulation::refused;

/// The exact probability that losses in bursts (a link's `bursts` in a plan, JSON) damage a packet of `size` bytes.
#[pyfunction]
pub(crate) fn packet_loss(py: Python<'_>, bursts: &str, size: u64) -> PyResult<f64> {
    py.detach(|| airpath_sim::packet_loss(bursts, size)).map_err(refused)
}

/// The same if bytes were wrong independently of each other; `None` for packets that are not coded.
#[pyfunction]
pub(crate) fn independent_packet_loss(py: Python<'_>, bursts: &str, size: u64) -> PyResult<Option<f64>> {
    py.detach(|| airpath_sim::independent_packet_loss(bursts, size)).map_err(refused)
}

/// Returns the mean of a rate (a link's `rate` in a plan, JSON) in bits per second; `None` if it is unlimited or
/// recorded. The mean of a schedule is that over one period if it repeats, and over the run otherwise.
#[pyfunction]
pub(crate) fn mean_rate(rate: &str, run_ns: u64) -> PyResult<Option<f64>> {
    Ok(read(rate)?.mean_bps(Duration::from_nanos(run_ns)))
}

/// Returns the times in nanoseconds, since the start of a period, at which a rate (a link's `rate` in a plan,
/// JSON) may change, and the length of a period, `None` if they do not repeat. Returns `None` if the rate is
/// unlimited or recorded.
#[pyfunction]
pub(crate) fn rate_changes(rate: &str) -> PyResult<Option<(Vec<u64>, Option<u64>)>> {
    Ok(read(rate)?.changes().map(|Changes { starts, period }| (starts, period)))
}

fn read(rate: &str) -> PyResult<RatePlan> {
    serde_json::from_str(rate).map_err(|error| refused(PlanError::Syntax(error.to_string())))
}
