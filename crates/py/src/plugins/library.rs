//! A shared library with components.

use std::path::PathBuf;
use std::sync::Arc;

use airpath_model::declare::Entry;
use airpath_plugin_host::{FaultSink, LibraryKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use super::Failure;

pyo3::create_exception!(
    _core,
    LibraryError,
    PyValueError,
    "The file is not a library with components; argument: the problem."
);

/// A shared library with components (`airpath_controller.h`, `airpath_components.h`). It stays loaded until the process ends.
#[pyclass(frozen, module = "airpath._core")]
pub(crate) struct Library(airpath_plugin_host::Library);

#[pymethods]
impl Library {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "a path from Python is owned")]
    fn new(path: PathBuf) -> PyResult<Self> {
        let library = airpath_plugin_host::Library::open(&path);
        library.map(Self).map_err(|error| LibraryError::new_err(error.to_string()))
    }

    /// The JSON schemas of the parameters of its components by kind, each with title and description.
    #[getter]
    fn schemas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.schemas().map(|(kind, schema)| (kind, schema.to_string())).into_py_dict(py)
    }
}

impl Library {
    /// Returns its component of a kind, with this id.
    pub(super) fn entry<K: LibraryKind>(&self, id: &str, failure: &Arc<Failure>) -> PyResult<Entry<K>> {
        let faults: Arc<dyn FaultSink> = Arc::clone(failure) as _;
        let entry = self.0.entry(id, &faults);
        entry.ok_or_else(|| PyValueError::new_err(format!("{id} has no component of kind {:?}", K::NAME)))
    }
}
