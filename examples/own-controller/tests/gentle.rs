//! The controller in the conformance suite, in a scenario, and over seeds.

use std::thread;

use airpath_conformance::{Follows, MSS, check_controller};
use airpath_control::declare::RuleConfig;
use airpath_control::declare::WindowedConfig;
use airpath_control::{StandardSlowStart, Windowed};
use airpath_sim::plan::Plan;
use airpath_sim::{Components, RunControl, Simulation};
use own_controller::GentleConfig;
use serde_json::{Value, json};

#[test]
fn it_keeps_the_contract_of_controllers() {
    check_controller("gentle", Follows::Rfc5681, || {
        let rule = GentleConfig::default().rule().unwrap();
        Box::new(Windowed::new(rule, StandardSlowStart::default(), MSS * 10, MSS).unwrap())
    });
}

/// The components of airpath, and `gentle`.
fn components() -> Components {
    let mut components = Components::builtin();
    components.control.controllers = components.control.controllers.with::<WindowedConfig<GentleConfig>>();
    components
}

/// A plan that `airpath.Scenario.plan()` wrote (10 Mbit/s, 40 ms, 0.1 % random loss), with another controller.
fn plan(controller: Value) -> Plan {
    let mut plan: Value = serde_json::from_str(include_str!("plan.json")).unwrap();
    plan["flows"][0]["controller"] = controller;
    Plan::from_json(&plan.to_string()).unwrap()
}

/// Runs a scenario and returns the delivered packets.
fn delivered(components: &Components, controller: Value, seed: u64) -> i64 {
    let simulation = Simulation::with_components(&plan(controller), &[], seed, components).unwrap();
    let outcome = simulation.run(&RunControl::default()).unwrap();
    let flows = outcome.tables.iter().find(|table| table.name == "flows").unwrap();
    flows.integers("delivered_packets")[0]
}

#[test]
fn it_runs_a_scenario() {
    let components = components();
    let one = delivered(&components, json!({ "kind": "gentle", "keep": 0.9 }), 1);
    assert!(one > 5_000, "{one} packets");
    assert_eq!(one, delivered(&components, json!({ "kind": "gentle", "keep": 0.9 }), 1));
    assert_eq!(
        delivered(&components, json!({ "kind": "gentle", "keep": 0.5, "slow_start": "hystart++" }), 1),
        delivered(
            &components,
            json!({ "kind": "gentle", "keep": 0.5, "slow_start": { "kind": "hystart++" } }),
            1
        )
    );
}

#[test]
fn over_seeds_it_delivers_more_than_newreno_despite_random_losses() {
    let components = &components();
    let mean = |controller: Value| {
        let controller = &controller;
        thread::scope(|scope| {
            let runs: Vec<_> = (1..=8)
                .map(|seed| scope.spawn(move || delivered(components, controller.clone(), seed)))
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).sum::<i64>() / 8
        })
    };
    let (gentle, newreno) = (mean(json!({ "kind": "gentle" })), mean(json!({ "kind": "newreno" })));
    assert!(gentle > newreno, "{gentle} packets, NewReno {newreno}");
}

#[test]
fn wrong_parameters_are_rejected_by_name() {
    let refused = |controller| {
        Simulation::with_components(&plan(controller), &[], 1, &components()).unwrap_err().to_string()
    };
    let text = refused(json!({ "kind": "gentle", "keep": 2.0 }));
    assert!(text.contains("keep"), "{text}");
    let text = refused(json!({ "kind": "gentle", "kep": 0.5 }));
    assert!(text.contains("kep"), "{text}");
    assert!(Simulation::new(&plan(json!("gentle")), &[], 1).is_err(), "only a registry that has it");
}
