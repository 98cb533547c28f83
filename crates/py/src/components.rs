//! What the engine declares: components and tables.

use airpath_sim::{components, network};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    _core,
    ComponentError,
    PyValueError,
    "A component is rejected. Arguments: the parameter (empty for the component as a whole), the problem, and the values with their defaults as JSON."
);

/// Returns the JSON schemas of all components, as JSON: `{kind: {id: schema}}`.
#[pyfunction]
pub(crate) fn component_schemas() -> String {
    components().schemas().to_string()
}

/// Returns the values of a component with all defaults, as JSON. `component` and `context` are JSON.
#[pyfunction]
pub(crate) fn complete_component(kind: &str, component: &str, context: &str) -> PyResult<String> {
    components().complete(kind, component, context).map_err(|(error, values)| {
        let values = serde_json::Value::Object(values).to_string();
        ComponentError::new_err((error.parameter.to_string(), error.to_string(), values))
    })
}

/// Returns the descriptions of all tables that runs hand out, as JSON.
#[pyfunction]
pub(crate) fn table_descriptions() -> PyResult<String> {
    serde_json::to_string(&network::table_descriptions())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
