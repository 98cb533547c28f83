//! Runs that stop at the ends of intervals, with externally controlled senders.

use crate::common::*;
use airpath_model::{Bytes, Duration, Rate, Steering, Timestamp};
use airpath_sim::plan::*;
use airpath_sim::{Action, Episodes, NotReady, Outcome, RunControl, Simulation, Step};
use proptest::prelude::*;

const STEP: u64 = 100 * MILLISECOND;
const MSS: u64 = 1460;

/// Returns a plan with one flow of this controller that shares an overflowing bottleneck with a CUBIC flow.
/// There is no proportional rate reduction, which replaces the window of `fixed` but not that of an agent.
fn competing_with_cubic(controller: ControllerPlan) -> Plan {
    let mut plan = peer_dumbbell(2, &cubic(), RecoveryPlan::Sack);
    plan.duration_ns = 10 * SECOND;
    plan.record.measure_from_ns = SECOND;
    plan.links[0].loss = 0.0005;
    plan.flows[0].controller = Some(controller);
    for flow in &mut plan.flows {
        flow.transport.as_mut().unwrap().initial_window_bytes = 600 * MSS;
    }
    plan
}

fn simulation(plan: &Plan, seed: u64) -> Simulation {
    Simulation::new(plan, &[], seed).unwrap()
}

/// Runs a plan to its end with an action for each step.
fn steered(plan: &Plan, seed: u64, steering: impl Fn(u64) -> Steering) -> (Vec<Step>, Outcome) {
    let (mut run, control) = (simulation(plan, seed), RunControl::default());
    let [flow] = run.steered_flows()[..] else { panic!("one flow is steered") };
    let steps = (1..=plan.duration_ns / STEP)
        .map(|number| {
            run.steer(flow, steering(number));
            run.advance_to(Timestamp::from_nanos(number * STEP), &control).unwrap();
            run.step(flow).unwrap()
        })
        .collect();
    (steps, run.run(&control).unwrap())
}

fn window(segments: u64) -> Steering {
    Steering { window: Bytes::new(segments * MSS), pacing: None }
}

fn texts(outcome: &Outcome) -> Vec<String> {
    let tables = outcome.tables.iter().filter(|table| table.name != "packets");
    tables.chain([&outcome.flow_series.table()]).map(|table| format!("{table:?}")).collect()
}

#[test]
fn an_agent_with_a_constant_window_equals_a_fixed_window() {
    let expected = run(&competing_with_cubic(fixed(600 * MSS)), 3);
    let lost = table(&expected, "flows").integers("lost_packets")[0];
    assert!(lost > 100, "the test requires losses, not {lost}");
    let (steps, outcome) = steered(&competing_with_cubic(ControllerPlan::Agent), 3, |_| window(600));
    assert_eq!(texts(&outcome), texts(&expected));
    assert_eq!(outcome.counts, expected.counts);
    // The reports of the steps after the warm-up add up to that of the run.
    let sent: u64 = steps.iter().skip(10).map(|step| step.report.sent.get()).sum();
    assert_eq!(sent as i64, MSS as i64 * table(&outcome, "flows").integers("sent_packets")[0]);
    let departed: i64 =
        steps.iter().skip(10).filter_map(|step| step.link).map(|link| link.departed_bytes).sum();
    assert_eq!(departed, table(&outcome, "links").integers("departed_bytes")[0]);
}

#[test]
fn without_actions_the_initial_window_stays() {
    let whole = run(&competing_with_cubic(ControllerPlan::Agent), 3);
    assert_eq!(texts(&whole), texts(&run(&competing_with_cubic(fixed(600 * MSS)), 3)));
}

#[test]
fn a_pacing_rate_set_by_an_action_is_kept() {
    let mut plan = peer_dumbbell(1, &ControllerPlan::Agent, RecoveryPlan::Prr);
    plan.duration_ns = 5 * SECOND;
    plan.record.measure_from_ns = 0;
    let rate = |number: u64| if number <= 20 { 20_000_000 } else { 50_000_000 };
    let (steps, _) = steered(&plan, 1, |number| Steering {
        window: Bytes::new(10_000 * MSS),
        pacing: Some(Rate::from_bps(rate(number))),
    });
    for (number, step) in (1..).zip(&steps).filter(|(number, _)| ![1, 21].contains(number)) {
        let sent = Rate::over(step.report.sent, Duration::from_nanos(STEP)).as_bps_f64();
        assert!((sent / rate(number) as f64 - 1.0).abs() < 0.02, "step {number}: {sent} bit/s");
        assert_eq!(step.pacing_rate, Some(Rate::from_bps(rate(number))));
    }
}

#[test]
fn a_finished_transfer_is_over_and_its_steps_are_empty() {
    let mut plan = peer_dumbbell(1, &ControllerPlan::Agent, RecoveryPlan::Prr);
    plan.duration_ns = 5 * SECOND;
    plan.record.measure_from_ns = 0;
    plan.flows[0].traffic = TrafficPlan::File { bytes: 100_000 };
    let (steps, outcome) = steered(&plan, 1, |_| window(20));
    assert!(!steps[0].over && steps[0].active);
    assert!(steps[49].over && !steps[49].active && steps[49].report.sent.is_zero());
    assert_eq!(table(&outcome, "completions").integers("bytes"), [100_000]);
}

#[test]
fn global_observations_are_those_of_the_measured_link() {
    let mut plan = peer_dumbbell(1, &ControllerPlan::Agent, RecoveryPlan::Prr);
    plan.duration_ns = 5 * SECOND;
    plan.record.measure_from_ns = 0;
    // 100 Mbit/s and 60 ms are 514 packets of 1460 bytes: with 700 the link is busy and about 186 packets
    // wait.
    let (steps, _) = steered(&plan, 1, |_| window(700));
    let link = steps[40].link.unwrap();
    assert!((link.offered_bytes - 1.25e6).abs() < 1.0, "{link:?}");
    assert!((1_240_000..=1_260_000).contains(&link.departed_bytes), "{link:?}");
    assert!((170..=210).contains(&(link.queue_bytes / 1500)), "{link:?}");
    assert_eq!(steps[40].values()[15].to_bits(), link.offered_bytes.to_bits());
    assert_eq!(Step::QUANTITIES[15], "link_offered_bytes");
}

#[test]
fn a_larger_window_is_used_at_once() {
    let mut plan = peer_dumbbell(1, &ControllerPlan::Agent, RecoveryPlan::Prr);
    plan.record.measure_from_ns = 0;
    let mut run = simulation(&plan, 1);
    for (step, segments) in [(1, 2), (2, 50)] {
        run.steer(0, window(segments));
        run.advance_to(Timestamp::from_nanos(step * STEP), &RunControl::default()).unwrap();
        run.step(0).unwrap();
    }
    let flight = run.step(0).unwrap().in_flight;
    run.steer(0, window(400));
    let step = run.step(0).unwrap();
    assert_eq!(step.report.sent, Bytes::new(400 * MSS) - flight);
    assert_eq!((step.in_flight, step.window), (Bytes::new(400 * MSS), Bytes::new(400 * MSS)));
}

#[test]
fn unknown_observations_are_nan() {
    let place = |name: &str| Step::QUANTITIES.iter().position(|quantity| *quantity == name).unwrap();
    let mut plan = peer_dumbbell(1, &ControllerPlan::Agent, RecoveryPlan::Prr);
    plan.duration_ns = 2 * SECOND;
    plan.record.measure_from_ns = 0;
    plan.record.interval_ns = 10 * MILLISECOND;
    let mut run = simulation(&plan, 1);
    let round_trips = ["rtt_s", "rtt_latest_s", "rtt_smoothed_s", "rtt_min_s"];
    let mut after = |ns: u64| {
        run.advance_to(Timestamp::from_nanos(ns), &RunControl::default()).unwrap();
        run.step(0).unwrap()
    };
    let early = after(10 * MILLISECOND).values();
    assert!(round_trips.iter().all(|name| early[place(name)].is_nan()), "{early:?}");
    let late = after(SECOND);
    assert!(late.report.rtt_samples > 1);
    let values = late.values();
    let mean = late.report.rtt_sum.as_secs_f64() / late.report.rtt_samples as f64;
    assert!((values[place("rtt_s")] - mean).abs() < 1e-12 && mean >= values[place("rtt_min_s")]);
    assert!(round_trips.iter().all(|name| (0.05..0.5).contains(&values[place(name)])), "{values:?}");
    // In a step without samples the mean is unknown, and the other values remain.
    let empty = Step { report: airpath_model::SenderReport::default(), ..late }.values();
    assert!(empty[place("rtt_s")].is_nan() && !empty[place("rtt_latest_s")].is_nan());
}

#[test]
fn an_episode_needs_one_agent_and_a_slot() {
    let mut episodes = Episodes::new(2);
    let of = |controller| simulation(&competing_with_cubic(controller), 1);
    assert_eq!(episodes.begin(0, of(cubic())), Err(NotReady::Flows(0)));
    let two = peer_dumbbell(2, &ControllerPlan::Agent, RecoveryPlan::Prr);
    assert_eq!(episodes.begin(0, simulation(&two, 1)), Err(NotReady::Flows(2)));
    assert_eq!(episodes.begin(2, of(ControllerPlan::Agent)), Err(NotReady::NoSlot(2)));
    episodes.begin(1, of(ControllerPlan::Agent)).unwrap();
    let action = Some(Action { window_bytes: 14_600.0, pacing_bps: f64::NAN });
    assert_eq!(episodes.step(&[action, action], STEP, 2), Err(NotReady::NotBegun(0)));
    assert!(episodes.step(&[None, action], STEP, 2).unwrap()[1].is_some());
    episodes.take(1).unwrap();
    assert_eq!(episodes.take(1).map(|_| ()), Err(NotReady::NotBegun(1)));
}

fn actions() -> impl Strategy<Value = Vec<(u64, Option<u64>)>> {
    let rate = prop::option::weighted(0.4, 0_u64..200_000_000);
    prop::collection::vec((0_u64..2000, rate), 20)
}

fn steering((segments, rate): (u64, Option<u64>)) -> Steering {
    Steering { pacing: rate.map(Rate::from_bps), ..window(segments) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Lookahead of endpoints ends with each step: without lookahead, the same actions have the same results.
    #[test]
    fn actions_have_the_same_effect_without_lookahead(actions in actions(), seed in 0_u64..1000) {
        let mut ahead = competing_with_cubic(ControllerPlan::Agent);
        ahead.duration_ns = 20 * STEP;
        let mut in_time = ahead.clone();
        in_time.record.packets = true;
        let act = |number: u64| steering(actions[number as usize - 1]);
        let (steps, outcome) = steered(&ahead, seed, act);
        let (steps_in_time, outcome_in_time) = steered(&in_time, seed, act);
        prop_assert_eq!(texts(&outcome), texts(&outcome_in_time));
        for (one, other) in steps.iter().zip(&steps_in_time) {
            prop_assert_eq!(one, other);
        }
    }

    /// Neither the number of episodes nor that of threads changes the results of an episode.
    #[test]
    fn episodes_equal_their_runs(actions in actions(), threads in 1_usize..5) {
        let mut plan = competing_with_cubic(ControllerPlan::Agent);
        plan.duration_ns = 20 * STEP;
        let mut episodes = Episodes::new(3);
        for seed in 0..3 {
            episodes.begin(seed, simulation(&plan, seed as u64)).unwrap();
        }
        let mut rows = Vec::new();
        for &(segments, rate) in &actions {
            let pacing_bps = rate.map_or(f64::NAN, |rate| rate as f64);
            let action = Action { window_bytes: (segments * MSS) as f64, pacing_bps };
            rows.push(episodes.step(&[Some(action); 3], STEP, threads).unwrap());
        }
        for seed in 0..3 {
            let (steps, outcome) = steered(&plan, seed as u64, |number| steering(actions[number as usize - 1]));
            for (step, row) in steps.iter().zip(&rows) {
                prop_assert_eq!(step.values().map(f64::to_bits), row[seed].unwrap().map(f64::to_bits));
            }
            let of_episode = episodes.take(seed).unwrap().run(&RunControl::default()).unwrap();
            prop_assert_eq!(texts(&of_episode), texts(&outcome));
        }
    }
}
