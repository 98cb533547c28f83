//! What a link's losses come to, without a run.

use pyo3::prelude::*;

use crate::simulation::PlanError;

/// The exact probability that losses in bursts (a link's `bursts` in a plan, JSON) damage a packet of `size` bytes.
#[pyfunction]
pub(crate) fn packet_loss(py: Python<'_>, bursts: &str, size: u64) -> PyResult<f64> {
    py.detach(|| airpath_sim::packet_loss(bursts, size))
        .map_err(|error| PlanError::new_err(error.to_string()))
}
