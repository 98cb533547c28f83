//! Libraries to load, and runs of them.

use std::sync::{Arc, Mutex};

use airpath_model::Timestamp;
use airpath_plugin_host::{FaultSink, Library};
use airpath_sim::plan::{ControllerPlan, Plan};
use airpath_sim::{Components, Outcome, RunControl, Simulation};

use crate::common::{flow, link, mbps, packets, plan, round_trip_links};

/// The id of the library in plans.
pub(crate) const ID: &str = "lib.so";

/// Keeps the first fault and stops the run.
#[derive(Debug, Default)]
pub(crate) struct FirstFault {
    pub(crate) control: RunControl,
    pub(crate) fault: Mutex<Option<(String, Option<Timestamp>)>>,
}

impl FaultSink for FirstFault {
    fn on_fault(&self, problem: String, now: Option<Timestamp>) {
        self.fault.lock().unwrap().get_or_insert((problem, now));
        self.control.cancel();
    }
}

/// Returns the library as a controller with options.
pub(crate) fn library(options: serde_json::Value) -> ControllerPlan {
    controller(ID, options)
}

/// Returns a controller with options.
pub(crate) fn controller(id: &str, mut options: serde_json::Value) -> ControllerPlan {
    options["kind"] = id.into();
    serde_json::from_value(options).unwrap()
}

/// Two flows of a controller share a link with random losses and a buffer of 20 packets.
pub(crate) fn shared_link(controller: &ControllerPlan, seconds: u64) -> Plan {
    let mut bottleneck = link("bottleneck", mbps(12), 10.0);
    bottleneck.queue = packets(20);
    bottleneck.loss = 1e-4;
    let flows = vec![flow("a", controller.clone()), flow("b", controller.clone())];
    plan(seconds, round_trip_links(bottleneck, 10.0), flows)
}

/// Returns the components of this source tree together with all those of a library, whose faults go to `sink`.
fn components(library: &Library, sink: &Arc<FirstFault>) -> Components {
    let mut components = Components::builtin();
    let faults: Arc<dyn FaultSink> = Arc::clone(sink) as _;
    if let Some(entry) = library.entry(ID, &faults) {
        components.control.controllers.register(entry).unwrap();
    }
    if let Some(entry) = library.entry(ID, &faults) {
        components.control.ack_rates.register(entry).unwrap();
    }
    if let Some(entry) = library.entry(ID, &faults) {
        components.sources.register(entry).unwrap();
    }
    if let Some(entry) = library.entry(ID, &faults) {
        components.queues.register(entry).unwrap();
    }
    components
}

/// Runs a plan that may name the library; returns its outcome unless it was cancelled, and the first fault.
pub(crate) fn run_with(
    library: &Library,
    plan: &Plan,
    seed: u64,
) -> (Option<Outcome>, Option<(String, Option<Timestamp>)>) {
    let sink = Arc::new(FirstFault::default());
    let run = Simulation::with_components(plan, &[], seed, &components(library, &sink)).unwrap();
    let outcome = run.run(&sink.control).ok();
    let fault = sink.fault.lock().unwrap().take();
    (outcome, fault)
}
