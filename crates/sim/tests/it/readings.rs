//! If a paper has several interpretations, each is implemented separately: no two yield the same run.

use crate::common::*;
use airpath_sim::plan::*;

/// Runs XCP in both directions over links that change each second, with a router of this protocol and source
/// on each side.
fn run_of(protocol: &ProtocolPlan, source: &SourcePlan) -> String {
    let routed = |name: &str| {
        let (protocol, source) = (protocol.clone(), source.clone());
        let queue = QueuePlan::Router { limit_bytes: None, limit_packets: Some(100), protocol, source };
        let rate = RatePlan::Uniform(UniformConfig {
            low_bps: 1_000_000,
            high_bps: 20_000_000,
            hold_ns: SECOND,
            initial_bps: None,
            stream: None,
        });
        LinkPlan { queue, ..link(name, rate, 20.0) }
    };
    let xcp = || ControllerPlan::Declared(ComponentPlan::named("xcp"));
    let other = FlowPlan { path: vec![1], reverse_path: vec![0], measured_at: 1, ..flow("other", xcp()) };
    let mut plan = plan(8, vec![routed("there"), routed("back")], vec![flow("one", xcp()), other]);
    plan.record.interval_ns = SECOND;
    format!("{:?}", table(&run(&plan, 1), "flows"))
}

/// Fails if two of these interpretations yield the same run.
fn all_differ(readings: &[(String, ProtocolPlan, SourcePlan)]) {
    let runs: Vec<String> = readings.iter().map(|(_, protocol, source)| run_of(protocol, source)).collect();
    for (place, (name, ..)) in readings.iter().enumerate() {
        let same = runs[..place].iter().position(|run| *run == runs[place]);
        assert!(same.is_none(), "{name} has the same effect as {}", readings[same.unwrap_or_default()].0);
    }
}

fn plain() -> ProtocolPlan {
    xcp_protocol([MILLISECOND, SECOND])
}

/// EBE as published, except the switched properties and a threshold that the queue crosses often, so that
/// Upsilon toggles.
#[derive(Clone, Copy)]
struct Switches {
    profile: &'static str,
    sampled_queue: &'static str,
    monitor: &'static str,
    maintainer: &'static str,
    spare_arrivals: &'static str,
}

const PUBLISHED: Switches = Switches {
    profile: "icc",
    sampled_queue: "mean",
    monitor: "plain",
    maintainer: "latch",
    spare_arrivals: "protocol",
};

fn ebe(switches: Switches) -> SourcePlan {
    let Switches { profile, sampled_queue, monitor, maintainer, spare_arrivals } = switches;
    SourcePlan::named("ebe")
        .with("profile", profile)
        .with("sampled_queue", sampled_queue)
        .with("monitor", monitor)
        .with("maintainer", maintainer)
        .with("spare_arrivals", spare_arrivals)
        .with("threshold", 0.5)
        .with("upsilon", 1.2)
        .with("capacity", 10_000_000)
        .with("min_capacity", 60_000)
        .with("max_capacity", 1_000_000_000)
        .with("unit", "packets")
        .with("packet", 1500)
        .with("measurement_interval", 10 * MILLISECOND)
        .with("estimation_interval", 200 * MILLISECOND)
}

#[test]
fn every_switch_of_ebe_has_its_own_effect() {
    let mut readings = vec![("as published".to_owned(), plain(), ebe(PUBLISHED))];
    let mut add = |name: String, switches| readings.push((name, plain(), ebe(switches)));
    for profile in ["journal", "counting", "normalised", "linear", "none"] {
        add(profile.to_owned(), Switches { profile, ..PUBLISHED });
    }
    for sampled_queue in ["minimum", "last"] {
        add(format!("sampled {sampled_queue}"), Switches { sampled_queue, ..PUBLISHED });
    }
    for monitor in ["idle-corrected", "hold"] {
        add(monitor.to_owned(), Switches { monitor, ..PUBLISHED });
    }
    for maintainer in ["strict", "below-threshold", "off"] {
        add(maintainer.to_owned(), Switches { maintainer, ..PUBLISHED });
    }
    let spare_arrivals = "estimator";
    add(format!("spare {spare_arrivals}"), Switches { spare_arrivals, ..PUBLISHED });
    all_differ(&readings);
}

#[test]
fn every_reading_of_xcp_and_xcp_b_has_its_own_effect() {
    let mut readings: Vec<_> = ["capacity", "spare", "feedback", "positive-feedback"]
        .map(|on| (on.to_owned(), plain().with("upsilon_on", on), ebe(PUBLISHED)))
        .into();
    readings.push(("data".to_owned(), plain().with("negative_share", "data"), ebe(PUBLISHED)));
    for signal in ["minimum", "mean", "last"] {
        let source = SourcePlan::named("xcp-b")
            .with("kappa", 0.02)
            .with("chi", 0.1)
            .with("late_reaction", 2)
            .with("signal", signal);
        readings.push((format!("XCP-b, {signal}"), plain(), source));
    }
    all_differ(&readings);
}
