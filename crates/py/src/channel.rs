//! What a link's losses come to, without a run.

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
