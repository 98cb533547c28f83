//! A library keeps the contract of congestion controllers, also with random lists of events.

use std::sync::Arc;

use airpath_conformance::{Follows, MSS, check_controller};
use airpath_control::declare::{Components, ControllerFacts};
use airpath_model::declare::ComponentPlan;
use airpath_model::{Controller, RandomStream, Timestamp};
use airpath_plugin_host::{FaultSink, Library};

use crate::examples::example;
use crate::support::ID;

/// Fails the test.
#[derive(Debug)]
struct Fails;

impl FaultSink for Fails {
    fn on_fault(&self, problem: String, now: Option<Timestamp>) {
        panic!("{problem} at {now:?}");
    }
}

#[test]
fn cubic_as_a_library_fulfils_the_contract() {
    let library = Arc::new(Library::open(&example("cubic")).unwrap());
    let faults: Arc<dyn FaultSink> = Arc::new(Fails);
    let mut components = Components::builtin();
    components.controllers.register(library.entry(ID, &faults).unwrap()).unwrap();
    let factory = components.controllers.read(&ComponentPlan::<()>::named(ID), &components).unwrap();
    let construct = || -> Box<dyn Controller> {
        let (initial_window, random) = (MSS * 10, RandomStream::new(1, "contract"));
        factory.build(ControllerFacts { initial_window, mss: MSS, handshake_rtt: None, random }).unwrap()
    };
    check_controller("cubic as a library", Follows::Rfc5681, construct);
}
