//! Classes of the user as components of the engine.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::sync::Arc;

use airpath_control::Agent;
use airpath_control::declare::{ControllerFacts, Controllers};
use airpath_estimate::declare::{AckRates, CapacitySources, SourceFacts};
use airpath_estimate::{AckRate, AckRateConfig, Configured};
use airpath_model::config::ConfigError;
use airpath_model::declare::{Entry, Factory, Kind, Values};
use airpath_model::{Packet, Qdisc, Rate};
use airpath_queue::DropTail;
use airpath_queue::declare::{QueueFacts, Queues};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::capacity_source::PythonSource;
use super::controller::PythonController;
use super::estimator::PythonEstimator;
use super::queue::PythonQueue;
use super::{Class, Failure};

/// A class of the user.
pub(super) struct PythonClass {
    class: Arc<Class>,
    schema: serde_json::Value,
    make: Arc<Py<PyAny>>,
}

impl PythonClass {
    pub(super) fn new(id: String, schema: &str, make: Py<PyAny>, failure: &Arc<Failure>) -> PyResult<Self> {
        let schema =
            serde_json::from_str(schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let class = Arc::new(Class { id, failure: Arc::clone(failure) });
        Ok(Self { class, schema, make: Arc::new(make) })
    }

    /// Returns the class as a component.
    pub(super) fn entry<K: Kind>(self) -> Entry<K>
    where
        Instances: Factory<K>,
    {
        let Self { class, schema, make } = self;
        Entry {
            id: Cow::Owned(class.id.clone()),
            schema: schema.into(),
            fill_defaults: Box::new(|_, _| Ok(())),
            read: Box::new(move |values, _| {
                let (make, class) = (Arc::clone(&make), Arc::clone(&class));
                Ok(Arc::new(Instances { make, values: values.clone(), class }))
            }),
        }
    }
}

/// Constructs the instances of a class with these values of its parameters.
///
/// If that fails, the run ends soon. Until then it gets another component, because a connection may be one of many that begin
/// during the run.
pub(super) struct Instances {
    make: Arc<Py<PyAny>>,
    values: Values,
    class: Arc<Class>,
}

impl Debug for Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instances").field("values", &self.values).finish_non_exhaustive()
    }
}

impl Instances {
    /// Returns what `wrap` makes of an instance; `None` after an exception.
    fn made<T>(&self, wrap: impl FnOnce(&Bound<'_, PyAny>, Arc<Class>) -> PyResult<T>) -> Option<T> {
        let values = self.values();
        self.class.call(None, |py| wrap(&self.make.bind(py).call1((values,))?, Arc::clone(&self.class)))
    }

    fn values(&self) -> String {
        serde_json::Value::Object(self.values.clone()).to_string()
    }
}

impl Factory<Controllers> for Instances {
    fn build(&self, facts: ControllerFacts) -> Result<Box<dyn airpath_model::Controller>, ConfigError> {
        let ControllerFacts { initial_window, mss, .. } = facts;
        Ok(match self.made(|object, class| PythonController::new(object.cast()?, facts, class)) {
            Some(controller) => Box::new(controller),
            None => Box::new(Agent::new(initial_window, mss)?),
        })
    }

    fn json(&self) -> String {
        self.values()
    }
}

impl Factory<AckRates> for Instances {
    fn build(&self, (): ()) -> Result<AckRate, ConfigError> {
        match self.made(|object, class| PythonEstimator::new(object.cast()?, class)) {
            Some(estimator) => Ok(AckRate::outside(estimator)),
            None => AckRate::new(AckRateConfig::default()),
        }
    }

    fn json(&self) -> String {
        self.values()
    }
}

impl Factory<CapacitySources> for Instances {
    fn build(&self, facts: SourceFacts<'_>) -> Result<Box<dyn airpath_model::CapacitySource>, ConfigError> {
        Ok(match self.made(|object, class| PythonSource::new(object.cast()?, &facts, class)) {
            Some(source) => Box::new(source),
            None => Box::new(Configured::new(Rate::from_bps(1))),
        })
    }

    fn json(&self) -> String {
        self.values()
    }
}

impl<P: Packet + Debug + Send + 'static> Factory<Queues<P>> for Instances {
    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        let limit = facts.limit;
        Ok(match self.made(|object, class| PythonQueue::new(object.cast()?, facts, class)) {
            Some(queue) => Box::new(queue),
            None => Box::new(DropTail::new(limit)),
        })
    }

    fn json(&self) -> String {
        self.values()
    }
}
