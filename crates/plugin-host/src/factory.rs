//! A library as a component of the registry of controllers.

use std::borrow::Cow;
use std::sync::Arc;

use airpath_control::Agent;
use airpath_control::declare::{ControllerFacts, Controllers};
use airpath_model::Controller;
use airpath_model::config::ConfigError;
use airpath_model::declare::{Entry, Factory, Value, Values};
use airpath_plugin::abi;

use crate::instance::Instance;
use crate::{FaultSink, Library, declaration};

impl Library {
    /// Returns the library as a component of this id. Its faults go to `faults`, after the id.
    pub fn entry(self: &Arc<Self>, id: &str, faults: &Arc<dyn FaultSink>) -> Entry<Controllers> {
        let (library, faults, name) = (Arc::clone(self), Arc::clone(faults), Arc::<str>::from(id));
        Entry {
            id: Cow::Owned(id.to_owned()),
            schema: self.schema().clone(),
            fill_defaults: Box::new(|_, _| Ok(())),
            read: Box::new(move |given, _| {
                Ok(Arc::new(LibraryFactory {
                    values: declaration::values(&library.parameters, given)?,
                    json: declaration::with_defaults(&library.parameters, given),
                    name: Arc::clone(&name),
                    library: Arc::clone(&library),
                    faults: Arc::clone(&faults),
                }))
            }),
        }
    }
}

/// Constructs the controllers of the connections of a flow.
#[derive(Debug)]
struct LibraryFactory {
    name: Arc<str>,
    library: Arc<Library>,
    values: Vec<abi::Value>,
    /// The values as in a plan.
    json: Values,
    faults: Arc<dyn FaultSink>,
}

impl Factory<Controllers> for LibraryFactory {
    fn build(&self, mut facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        let ControllerFacts { initial_window, mss, .. } = facts;
        let (name, faults) = (Arc::clone(&self.name), Arc::clone(&self.faults));
        match Instance::new(&self.library, &self.values, &mut facts, name, faults) {
            Ok(instance) => Ok(Box::new(instance)),
            // The run ends soon. Until then the connection needs some controller, because it may be one of many that begin
            // during the run.
            Err(problem) => {
                self.faults.on_fault(format!("{}: {problem}", self.name), None);
                Ok(Box::new(Agent::new(initial_window, mss)?))
            }
        }
    }

    fn json(&self) -> String {
        Value::Object(self.json.clone()).to_string()
    }
}
