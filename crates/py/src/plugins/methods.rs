//! Methods of objects of the user.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Returns a method that the class may leave out.
pub(super) fn optional(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    Ok(object.getattr_opt(name)?.map(Bound::unbind))
}

/// Returns a method that the class must have.
pub(super) fn required(object: &Bound<'_, PyAny>, name: &str, what: &str) -> PyResult<Py<PyAny>> {
    optional(object, name)?.ok_or_else(|| PyTypeError::new_err(format!("the {what} has no method {name}")))
}
