//! Libraries as components of the registries.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use airpath_control::Agent;
use airpath_control::declare::{ControllerFacts, Controllers};
use airpath_estimate::declare::{AckRates, CapacitySources, SourceFacts};
use airpath_estimate::{AckRate, AckRateConfig, Configured};
use airpath_model::config::ConfigError;
use airpath_model::declare::{Entry, Factory, Kind, Value, Values};
use airpath_model::{CapacitySource, Controller, Packet, Qdisc, Rate};
use airpath_plugin::abi;
use airpath_queue::DropTail;
use airpath_queue::declare::{QueueFacts, Queues};

use crate::controller::LibraryController;
use crate::estimator::LibraryEstimator;
use crate::instance::Origin;
use crate::queue::LibraryQueue;
use crate::source::LibrarySource;
use crate::table::{Component, Table};
use crate::{FaultSink, Library, declaration};

/// A kind of component that libraries may have.
pub trait LibraryKind: Kind {
    /// Returns the component of this kind; see [`Library::entry`].
    fn entry(library: &Library, id: &str, faults: &Arc<dyn FaultSink>) -> Option<Entry<Self>>;
}

impl Library {
    /// Returns its component of a kind, with this id; `None` if it has none of that kind. Faults go to `faults`, after the
    /// id.
    pub fn entry<K: LibraryKind>(&self, id: &str, faults: &Arc<dyn FaultSink>) -> Option<Entry<K>> {
        K::entry(self, id, faults)
    }
}

impl LibraryKind for Controllers {
    fn entry(library: &Library, id: &str, faults: &Arc<dyn FaultSink>) -> Option<Entry<Self>> {
        library.controller.as_ref().map(|component| entry(component, id, faults))
    }
}

impl LibraryKind for AckRates {
    fn entry(library: &Library, id: &str, faults: &Arc<dyn FaultSink>) -> Option<Entry<Self>> {
        library.estimator.as_ref().map(|component| entry(component, id, faults))
    }
}

impl LibraryKind for CapacitySources {
    fn entry(library: &Library, id: &str, faults: &Arc<dyn FaultSink>) -> Option<Entry<Self>> {
        library.source.as_ref().map(|component| entry(component, id, faults))
    }
}

impl<P: Packet + Debug + Send + 'static> LibraryKind for Queues<P> {
    fn entry(library: &Library, id: &str, faults: &Arc<dyn FaultSink>) -> Option<Entry<Self>> {
        library.queue.as_ref().map(|component| entry(component, id, faults))
    }
}

fn entry<K: Kind, T: Table>(component: &Arc<Component<T>>, id: &str, faults: &Arc<dyn FaultSink>) -> Entry<K>
where
    LibraryFactory<T>: Factory<K>,
{
    let (component, faults, name) = (Arc::clone(component), Arc::clone(faults), Arc::<str>::from(id));
    Entry {
        id: Cow::Owned(id.to_owned()),
        schema: component.schema.clone().into(),
        fill_defaults: Box::new(|_, _| Ok(())),
        read: Box::new(move |given, _| {
            let origin = Origin {
                values: declaration::values(&component.parameters, given)?,
                name: Arc::clone(&name),
                component: Arc::clone(&component),
                faults: Arc::clone(&faults),
            };
            let json = declaration::with_defaults(&component.parameters, given);
            Ok(Arc::new(LibraryFactory { origin, json }))
        }),
    }
}

/// Constructs the instances of a component.
///
/// If that fails, the run ends soon. Until then it gets another component, because a connection may be one of many that begin
/// during the run.
#[derive(Debug)]
struct LibraryFactory<T> {
    origin: Origin<T>,
    /// The values as in a plan.
    json: Values,
}

impl<T> LibraryFactory<T> {
    /// Returns the instance; reports a failure and then returns `None`.
    fn made<M>(&self, made: Result<M, String>) -> Option<M> {
        let Origin { name, faults, .. } = &self.origin;
        made.map_err(|problem| faults.on_fault(format!("{name}: {problem}"), None)).ok()
    }

    fn text(&self) -> String {
        Value::Object(self.json.clone()).to_string()
    }
}

impl Factory<Controllers> for LibraryFactory<abi::Controller> {
    fn build(&self, mut facts: ControllerFacts) -> Result<Box<dyn Controller>, ConfigError> {
        let ControllerFacts { initial_window, mss, .. } = facts;
        Ok(match self.made(LibraryController::new(&self.origin, &mut facts)) {
            Some(controller) => Box::new(controller),
            None => Box::new(Agent::new(initial_window, mss)?),
        })
    }

    fn json(&self) -> String {
        self.text()
    }
}

impl Factory<AckRates> for LibraryFactory<abi::Estimator> {
    fn build(&self, (): ()) -> Result<AckRate, ConfigError> {
        match self.made(LibraryEstimator::new(&self.origin)) {
            Some(estimator) => Ok(AckRate::outside(estimator)),
            None => AckRate::new(AckRateConfig::default()),
        }
    }

    fn json(&self) -> String {
        self.text()
    }
}

impl Factory<CapacitySources> for LibraryFactory<abi::Source> {
    fn build(&self, facts: SourceFacts<'_>) -> Result<Box<dyn CapacitySource>, ConfigError> {
        Ok(match self.made(LibrarySource::new(&self.origin, &facts)) {
            Some(source) => Box::new(source),
            None => Box::new(Configured::new(Rate::from_bps(1))),
        })
    }

    fn json(&self) -> String {
        self.text()
    }
}

impl<P: Packet + Debug + Send + 'static> Factory<Queues<P>> for LibraryFactory<abi::Queue> {
    fn build(&self, facts: QueueFacts<'_>) -> Result<Box<dyn Qdisc<P>>, ConfigError> {
        let limit = facts.limit;
        Ok(match self.made(LibraryQueue::new(&self.origin, facts)) {
            Some(queue) => Box::new(queue),
            None => Box::new(DropTail::new(limit)),
        })
    }

    fn json(&self) -> String {
        self.text()
    }
}
