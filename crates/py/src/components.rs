//! Declarations of components.

use airpath_sim::components;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    _core,
    ComponentError,
    PyValueError,
    "A component is refused. Arguments: the parameter (empty for the whole), the problem, the values with their defaults as JSON."
);

/// The JSON schemas of all components as JSON: `{kind: {id: schema}}`.
#[pyfunction]
pub(crate) fn component_schemas() -> String {
    components().schemas().to_string()
}

/// Returns the values of a component with all its defaults, as JSON; `part` and `place` are JSON.
#[pyfunction]
pub(crate) fn complete_component(kind: &str, part: &str, place: &str) -> PyResult<String> {
    components().complete(kind, part, place).map_err(|(refused, values)| {
        let values = values.into_iter().collect::<serde_json::Map<_, _>>();
        let values = serde_json::Value::Object(values).to_string();
        ComponentError::new_err((refused.parameter.into_owned(), refused.problem.into_owned(), values))
    })
}
