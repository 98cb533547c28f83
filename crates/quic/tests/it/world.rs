//! Scenarios over quinn, compared with the simulator's own transport.

use airpath_network::{Outcome, RunControl};

use airpath_plan::*;

use crate::common::*;
use airpath_quic::{QuicRun, RunError};

fn over_quic(plan: &Plan, seed: u64) -> Outcome {
    QuicRun::new(plan, &[], seed).unwrap().run(&RunControl::default()).unwrap()
}

fn goodput(outcome: &Outcome, flow: usize) -> f64 {
    table(outcome, "flows").integers("goodput_bytes")[flow] as f64
}

/// Returns a plan with 10 Mbit/s, 40 ms, and a buffer of one bandwidth-delay product.
fn bottleneck(seconds: u64, flows: Vec<FlowPlan>) -> Plan {
    let forward = LinkPlan { queue: packets(33), ..link("bottleneck", mbps(10), 20.0) };
    plan(seconds, round_trip_links(forward, 20.0), flows)
}

#[test]
fn a_flow_fills_the_link() {
    for controller in [newreno(), cubic()] {
        let plan = bottleneck(30, vec![flow("f", controller.clone())]);
        let ratio = goodput(&over_quic(&plan, 1), 0) / goodput(&run(&plan, 1), 0);
        // Headers of QUIC and UDP take 4 % of a packet, those of TCP here 2.7 %; the handshake takes a round
        // trip.
        assert!((0.95..1.01).contains(&ratio), "{controller:?}: {ratio} of what is simulated");
    }
}

#[test]
fn flows_of_one_scheme_share_equally() {
    let flows = (0..4).map(|number| flow(&format!("f{number}"), cubic())).collect();
    let outcome = over_quic(&bottleneck(60, flows), 1);
    let shares: Vec<f64> = (0..4).map(|flow| goodput(&outcome, flow)).collect();
    let (sum, squares): (f64, f64) = (shares.iter().sum(), shares.iter().map(|share| share * share).sum());
    let fairness = sum * sum / (4.0 * squares);
    assert!(fairness > 0.95, "Jain's index of {shares:?} is {fairness}");
    assert!(sum * 8.0 / 60e6 > 9.2, "{} Mbit/s in all", sum * 8.0 / 60e6);
}

/// The same law as for the simulator's transport: it shows that the stack reports losses as controllers need
/// them.
#[test]
fn newreno_follows_the_square_root_law() {
    in_threads(&[3e-4_f64, 1e-3], |&loss| {
        let mut forward = link("bottleneck", mbps(10_000), 50.0);
        forward.loss = loss;
        let seconds = 2_000;
        let mut plan = plan(seconds, round_trip_links(forward, 50.0), vec![flow("f", newreno())]);
        plan.record.measure_from_ns = 20 * SECOND;
        let outcome = over_quic(&plan, 1);
        let payload = 1472.0 - 31.0; // minus QUIC's header, tag and frames
        let window = goodput(&outcome, 0) / (seconds - 20) as f64 / payload * 0.1;
        let (regular, independent) = ((1.5 / loss).sqrt(), 1.309 / loss.sqrt());
        assert!(
            (0.94 * regular..1.04 * independent).contains(&window),
            "loss {loss}: {window}, and {regular} to {independent} by the law"
        );
    });
}

#[test]
fn files_arrive_completely_and_a_handshake_later() {
    let traffic = TrafficPlan::Repeated {
        bytes: Draw::Constant { value: 100_000.0 },
        pause_ns: Draw::Constant { value: 1e9 },
    };
    let plan = bottleneck(20, vec![FlowPlan { traffic, ..flow("f", cubic()) }]);
    let (quic, sim) = (over_quic(&plan, 1), run(&plan, 1));
    let times = |outcome: &Outcome| {
        let completions = table(outcome, "completions");
        assert!(completions.integers("bytes").iter().all(|&bytes| bytes == 100_000));
        let numbers: Vec<i64> = (0..completions.integers("bytes").len() as i64).collect();
        assert_eq!(completions.integers("transfer"), numbers);
        let (start, end) = (completions.reals("start_s"), completions.reals("end_s"));
        start.iter().zip(end).map(|(start, end)| end - start).collect::<Vec<f64>>()
    };
    let (quic_times, sim_times) = (times(&quic), times(&sim));
    assert!(quic_times.len() >= 14, "{} files", quic_times.len());
    let longer = quic_times[0] - sim_times[0];
    assert!((0.03..0.09).contains(&longer), "{longer} s longer, and a round trip takes 0.04");
    let whole = quic_times.len() as f64 * 100_000.0;
    let arrived = goodput(&quic, 0);
    assert!((whole..whole + 100_000.0).contains(&arrived), "{arrived} bytes of {whole}");
}

#[test]
fn writes_to_one_connection_match_the_simulation() {
    let traffic = TrafficPlan::Writes {
        bytes: Draw::Uniform { low: 10_000.0, high: 90_000.0 },
        interval_ns: Draw::Uniform { low: 4e8, high: 6e8 },
    };
    let mut flow = FlowPlan { traffic, ..flow("f", cubic()) };
    // With this seed everything that was written has arrived by then.
    flow.stop_ns = Some(Draw::Constant { value: 18e9 });
    let plan = bottleneck(20, vec![flow]);
    let (quic, sim) = (over_quic(&plan, 4), run(&plan, 4));
    let written = goodput(&sim, 0);
    assert!((33.0 * 40_000.0..39.0 * 60_000.0).contains(&written), "{written} bytes");
    assert_eq!(goodput(&quic, 0).to_bits(), written.to_bits());
    for outcome in [quic, sim] {
        assert_eq!(table(&outcome, "completions").integers("bytes").len(), 0);
    }
}

#[test]
fn random_arrivals_match_the_simulation() {
    let traffic = TrafficPlan::Arrivals {
        bytes: Draw::Exponential { mean: 20_000.0 },
        mean_interval_ns: 200.0 * MILLISECOND as f64,
    };
    let plan = bottleneck(20, vec![FlowPlan { traffic, ..flow("f", cubic()) }]);
    let sizes = |outcome: &Outcome| {
        let completions = table(outcome, "completions");
        let mut sizes: Vec<(u64, i64)> = completions
            .reals("start_s")
            .iter()
            .zip(completions.integers("bytes"))
            .map(|(start, bytes)| (start.to_bits(), *bytes))
            .collect();
        sizes.sort_unstable();
        sizes
    };
    let (quic, sim) = (sizes(&over_quic(&plan, 3)), sizes(&run(&plan, 3)));
    // A transfer that began just before the end may be complete in one of the two only.
    let common = quic.len().min(sim.len());
    assert!(common > 70 && quic.len().abs_diff(sim.len()) < 4, "{} and {}", quic.len(), sim.len());
    assert_eq!(quic[..common - 4], sim[..common - 4]);
}

#[test]
fn a_flow_that_stops_sends_nothing_more() {
    let stopped = FlowPlan { stop_ns: Some(Draw::Constant { value: 5e9 }), ..flow("f", cubic()) };
    let outcome = over_quic(&bottleneck(10, vec![stopped]), 1);
    let rate = goodput(&outcome, 0) * 8.0 / 5e6;
    assert!((8.0..10.0).contains(&rate), "{rate} Mbit/s before it stops");
    let series = outcome.flow_series.table();
    let last = series.reals("time_s").last().copied().unwrap();
    assert!(last < 5.5, "rows of the series up to {last} s");
}

#[test]
fn datagrams_take_their_share() {
    let traffic = TrafficPlan::ConstantBitRate {
        bps: 4_000_000,
        packet_bytes: 1000,
        on_ns: None,
        off_ns: None,
        start_off: false,
    };
    let plan = bottleneck(20, vec![flow("f", cubic()), datagrams("u", traffic)]);
    let outcome = over_quic(&plan, 1);
    let [quic, uncontrolled] = [0, 1].map(|flow| goodput(&outcome, flow) * 8.0 / 20e6);
    assert!((3.7..=4.0).contains(&uncontrolled), "{uncontrolled} Mbit/s of datagrams");
    assert!((5.0..6.2).contains(&quic), "{quic} Mbit/s of QUIC alongside them");
    let sent = |outcome: &Outcome| table(outcome, "flows").integers("sent_packets")[1];
    assert_eq!(sent(&outcome), sent(&run(&plan, 1)));
}

/// If packets may be marked, none is dropped, and a flow reduces its window in response to marks.
#[test]
fn marks_reach_the_controller_if_the_scenario_enables_them() {
    let marked = |ecn: bool| {
        let mut one = flow("f", newreno());
        if let Some(transport) = &mut one.transport {
            transport.ecn = ecn;
        }
        let mut plan = bottleneck(30, vec![one]);
        plan.links[0].queue = codel();
        (over_quic(&plan, 1), run(&plan, 1))
    };
    let ((with, simulated), (without, _)) = (marked(true), marked(false));
    let reductions = |outcome: &Outcome| table(outcome, "flows").integers("ecn_reductions")[0];
    let recoveries = |outcome: &Outcome| table(outcome, "flows").integers("recoveries")[0];
    assert!(reductions(&with) > 3, "{} reductions", reductions(&with));
    assert_eq!(recoveries(&with), 0, "nothing is lost");
    assert_eq!(reductions(&without), 0);
    assert!(recoveries(&without) > 3, "{} recoveries", recoveries(&without));
    let ratio = goodput(&with, 0) / goodput(&simulated, 0);
    assert!((0.9..1.1).contains(&ratio), "{ratio} of what is simulated");
}

fn codel() -> QueuePlan {
    QueuePlan::Managed {
        limit_bytes: None,
        limit_packets: Some(1000),
        management: ManagementPlan::named("codel")
            .with("target", 5 * MILLISECOND)
            .with("interval", 100 * MILLISECOND)
            .with("packet", 1500)
            .with("ecn", true),
    }
}

#[test]
fn same_seed_same_results() {
    let mut plan = bottleneck(10, vec![flow("f", cubic()), flow("g", newreno())]);
    plan.links[0].loss = 1e-3;
    let tables = |seed| {
        let outcome = over_quic(&plan, seed);
        (format!("{:?}", outcome.tables), outcome.counts)
    };
    assert_eq!(tables(1), tables(1));
    assert_ne!(tables(1), tables(2));
}

#[test]
fn sent_packets_are_delivered_dropped_or_in_the_network() {
    let mut plan = bottleneck(10, vec![flow("f", cubic()), flow("g", cubic())]);
    plan.links[0].loss = 1e-3;
    let outcome = over_quic(&plan, 1);
    let drops: i64 = table(&outcome, "drops").integers("link").len() as i64;
    let counts = outcome.counts;
    assert_eq!(
        counts.packets_sent as i64,
        counts.packets_received as i64 + counts.packets_inside as i64 + drops
    );
    assert!(drops > 10);
}

#[test]
fn a_blackout_breaks_no_connection() {
    let rate = RatePlan::Steps(StepsConfig {
        steps: vec![(0, 10_000_000), (5 * SECOND, 0), (45 * SECOND, 10_000_000)],
        repeat_after_ns: None,
    });
    let forward = LinkPlan { queue: packets(33), ..link("bottleneck", rate, 20.0) };
    let outcome = over_quic(&plan(120, round_trip_links(forward, 20.0), vec![flow("f", cubic())]), 1);
    let megabits = goodput(&outcome, 0) * 8.0 / 1e6;
    assert!(megabits > 300.0, "{megabits} Mbit in 80 s with a link of 10 Mbit/s");
}

/// Repeats of the link overtake each other, and quinn changes its keys in between: a packet under old keys
/// must not count as a change of keys.
#[test]
fn reordering_breaks_no_connection() {
    in_threads(&[1, 2, 3, 4, 5], |&seed| {
        let mut links = round_trip_links(link("there", RatePlan::Unlimited, 2.0), 3.0);
        links[1].loss = 0.1;
        links[1].arq = Some(
            ArqPlan::named("selective-repeat")
                .with("retries", 3)
                .with("delay", 100_000)
                .with("in_order", false),
        );
        let back =
            FlowPlan { path: vec![1], reverse_path: vec![0], measured_at: 1, ..flow("b", fixed(9000)) };
        let outcome = over_quic(&plan(1, links, vec![flow("a", fixed(4_000_000)), back]), seed);
        assert!(goodput(&outcome, 0) > 1e6, "seed {seed}: {} bytes", goodput(&outcome, 0));
    });
}

#[test]
fn unsupported_controllers_are_rejected_with_the_flow_named() {
    let bbr = ControllerPlan::Declared(ComponentPlan::named("bbr"));
    let xcp = ControllerPlan::Declared(ComponentPlan::named("xcp"));
    for (controller, why) in [(bbr, "quinn paces by its window"), (xcp, "a header that routers write")] {
        let error = QuicRun::new(&bottleneck(1, vec![flow("f", controller)]), &[], 1).err().unwrap();
        let text = error.to_string();
        assert!(text.starts_with("flow f: scheme: ") && text.contains(why), "{text}");
    }
}

#[test]
fn packets_have_the_configured_size_up_to_the_limit_of_quinn() {
    let with = |mss_bytes| {
        let transport = TransportPlan { mss_bytes, initial_window_bytes: 10 * mss_bytes, ..transport() };
        bottleneck(3, vec![FlowPlan { transport: Some(transport), ..flow("f", cubic()) }])
    };
    let outcome = over_quic(&with(15_988), 1);
    let rate = goodput(&outcome, 0) * 8.0 / 3e6;
    assert!(rate > 5.0, "{rate} Mbit/s");
    let error = QuicRun::new(&with(15_989), &[], 1).err().unwrap().to_string();
    let said = "flow f: transport.mss: packets of 16029 bytes; accepted over QUIC: up to 16028";
    assert_eq!(error, said);
}

#[test]
fn a_run_can_be_stopped() {
    let control = RunControl::default();
    control.cancel();
    let run = QuicRun::new(&bottleneck(60, vec![flow("f", cubic())]), &[], 1).unwrap();
    assert_eq!(run.run(&control), Err(RunError::Cancelled));
}
