//! Recorded limits of senders.

use crate::common::*;
use airpath_sim::Outcome;
use airpath_sim::plan::*;

const LIMITS: [&str; 6] =
    ["recovery", "application", "receive_window", "send_buffer", "congestion_window", "pacing"];

/// Returns a plan with a flow over 10 Mbit/s and 40 ms for 20 s, with a buffer of 40 packets.
fn limited(flow: FlowPlan) -> Plan {
    let bottleneck = LinkPlan { queue: packets(40), ..link("bottleneck", mbps(10), 20.0) };
    let mut plan = plan(20, round_trip_links(bottleneck, 20.0), vec![flow]);
    plan.record.flow_limits = true;
    plan
}

/// Returns the mean share of each limit over the rows.
fn shares(outcome: &Outcome) -> [f64; 6] {
    let table = table(outcome, "flow_limits");
    LIMITS.map(|name| {
        let shares = table.reals(name);
        shares.iter().sum::<f64>() / shares.len() as f64
    })
}

fn named(limit: &str) -> usize {
    LIMITS.iter().position(|name| *name == limit).unwrap()
}

#[test]
fn the_limit_is_the_one_the_scenario_produces() {
    let mut small_window = flow("f", cubic());
    small_window.transport = Some(TransportPlan { receive_window_bytes: 16 * 1460, ..transport() });
    let paced = flow("f", fixed_and_paced());
    for (plan, limit, least) in [
        (limited(flow("f", fixed(9 * 1460))), "congestion_window", 1.0),
        (limited(flow("f", cubic())), "congestion_window", 0.9),
        (limited(small_window), "receive_window", 0.99),
        (limited(paced), "pacing", 0.98),
    ] {
        let shares = shares(&run(&plan, 1));
        assert!(shares[named(limit)] >= least, "{limit}: {shares:?}");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        assert!(shares[named("application")] < 1e-9, "{shares:?}");
    }
}

/// Without timeouts, the table of events contains the start and the end of every recovery.
#[test]
fn recovery_time_is_the_time_between_its_events() {
    let mut plan = limited(flow("f", newreno()));
    plan.links[0].loss = 0.005;
    let outcome = run(&plan, 1);
    let events = table(&outcome, "flow_events");
    let rows = events.integers("event").iter().zip(events.reals("time_s"));
    let mut recovery_s = 0.0;
    for (event, time_s) in rows {
        match event {
            0 => recovery_s -= time_s,
            4 => recovery_s += time_s,
            _ => panic!("event {event}"),
        }
    }
    let share = shares(&outcome)[named("recovery")];
    assert!((share * 20.0 - recovery_s).abs() < 1e-6 && recovery_s > 2.0, "{share} {recovery_s}");
}

/// Ten packets are sent at once, after which a transfer of ten has nothing more to send; in a transfer of
/// twenty, the other ten follow the acknowledgments of the first, 41 to 52 ms later.
#[test]
fn pauses_between_transfers_are_limited_by_the_application() {
    let traffic = TrafficPlan::Repeated {
        bytes: Draw::Constant { value: 14_600.0 },
        pause_ns: Draw::Constant { value: 1e9 },
    };
    let outcome = run(&limited(FlowPlan { traffic, ..flow("f", newreno()) }), 1);
    let shares = shares(&outcome);
    assert!(shares[named("application")] > 1.0 - 1e-9, "{shares:?}");
    let twice = TrafficPlan::Repeated {
        bytes: Draw::Constant { value: 2.0 * 14_600.0 },
        pause_ns: Draw::Constant { value: 1e9 },
    };
    let outcome = run(&limited(FlowPlan { traffic: twice, ..flow("f", newreno()) }), 1);
    let first = table(&outcome, "flow_limits");
    let (window, application) = (first.reals("congestion_window")[0], first.reals("application")[0]);
    assert!((0.41..0.53).contains(&window) && (window + application - 1.0).abs() < 1e-9, "{window}");
}

#[test]
fn rows_cover_the_lifetime_of_a_flow() {
    let mut one = flow("f", cubic());
    one.start_ns = Draw::Constant { value: 2.25e9 };
    one.stop_ns = Some(Draw::Constant { value: 5e9 });
    let outcome = run(&limited(one), 1);
    let times = table(&outcome, "flow_limits").reals("time_s");
    assert!((times[0] - 2.3).abs() < 1e-9, "{times:?}");
    let last = times[times.len() - 1];
    assert!((5.1..5.3).contains(&last), "until all is acknowledged: {last}");
    assert_eq!(times.len(), ((last - 2.2) * 10.0).round() as usize);
    let mut plan = limited(flow("f", cubic()));
    plan.record.flow_limits = false;
    assert!(table(&run(&plan, 1), "flow_limits").reals("time_s").is_empty());
}
