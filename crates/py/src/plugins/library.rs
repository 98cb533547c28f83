//! A shared library with a controller.

use std::path::PathBuf;
use std::sync::Arc;

use airpath_control::declare::Controllers;
use airpath_model::declare::Entry;
use airpath_plugin_host::FaultSink;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Failure;

pyo3::create_exception!(
    _core,
    LibraryError,
    PyValueError,
    "The file is not a library with a controller; argument: the problem."
);

/// A shared library with a controller (`airpath_controller.h`). It stays loaded until the process ends.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct Library(Arc<airpath_plugin_host::Library>);

#[pymethods]
impl Library {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "a path from Python is owned")]
    fn new(path: PathBuf) -> PyResult<Self> {
        let library = airpath_plugin_host::Library::open(&path);
        library
            .map(|library| Self(Arc::new(library)))
            .map_err(|error| LibraryError::new_err(error.to_string()))
    }

    /// The JSON schema of its parameters, with its title and description.
    #[getter]
    fn schema(&self) -> String {
        self.0.schema().to_string()
    }
}

impl Library {
    /// Returns the library as a component of this id.
    pub(super) fn entry(&self, id: &str, failure: &Arc<Failure>) -> Entry<Controllers> {
        let faults: Arc<dyn FaultSink> = Arc::clone(failure) as _;
        self.0.entry(id, &faults)
    }
}
