//! Quantities that a component of a link records.

use airpath_plugin_host::interned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The last value of each quantity.
#[derive(Debug, Default)]
pub(super) struct Recorded(Vec<(&'static str, f64)>);

impl Recorded {
    pub(super) fn set(&mut self, name: &str, value: f64) -> PyResult<()> {
        let name = interned(name).map_err(PyValueError::new_err)?;
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, last)) => *last = value,
            None => self.0.push((name, value)),
        }
        Ok(())
    }

    pub(super) fn report(&self, report: &mut dyn FnMut(&'static str, f64)) {
        self.0.iter().for_each(|&(name, value)| report(name, value));
    }
}
