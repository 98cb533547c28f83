//! Managed queues in whole runs: the delay, isolation and shares that their specifications promise.

use crate::common::*;
use airpath_sim::plan::*;
use airpath_sim::{Outcome, Simulation};

/// 20 Mbit/s with 40 ms of base RTT: full packets take 0.6 ms.
const MBPS: u64 = 20;

fn managed(management: ManagementPlan) -> QueuePlan {
    QueuePlan::Managed { limit_bytes: None, limit_packets: Some(1000), management }
}

/// Returns a plan with flows of these controllers over one bottleneck for 60 s, measured from 20 to 60 s.
fn plan_of(queue: QueuePlan, controllers: &[ControllerPlan], ecn: bool) -> Plan {
    let forward = LinkPlan { queue, ..link("bottleneck", mbps(MBPS), 20.0) };
    let flows = controllers.iter().enumerate().map(|(index, controller)| {
        let mut made = flow(&format!("f{index}"), controller.clone());
        made.start_ns = Draw::Constant { value: index as f64 * 1e8 };
        if let Some(transport) = &mut made.transport {
            transport.ecn = ecn;
        }
        made
    });
    let mut plan = plan(60, round_trip_links(forward, 20.0), flows.collect());
    plan.record.measure_from_ns = 20 * SECOND;
    plan
}

/// Returns the mean queue as drain time at the rate of the bottleneck, in seconds, and the utilisation.
fn delay_and_utilisation(outcome: &Outcome) -> (f64, f64) {
    let links = table(outcome, "links");
    let rate = MBPS as f64 * 1e6 / 8.0;
    let departed = links.integers("departed_bytes")[0] as f64;
    (links.reals("queue_mean_bytes")[0] / rate, departed / (40.0 * rate))
}

fn throughputs(outcome: &Outcome) -> Vec<f64> {
    let bytes = table(outcome, "flows").integers("departed_bytes").to_vec();
    assert!(bytes.len() > 1);
    bytes.iter().map(|&bytes| bytes as f64 * 8.0 / 40e6).collect()
}

fn codel(ecn: bool) -> ManagementPlan {
    ManagementPlan::named("codel")
        .with("target", 5 * MILLISECOND)
        .with("interval", 100 * MILLISECOND)
        .with("packet", 1500)
        .with("ecn", ecn)
}

fn fq_codel(ecn: bool) -> ManagementPlan {
    ManagementPlan::named("fq-codel")
        .with("target", 5 * MILLISECOND)
        .with("interval", 100 * MILLISECOND)
        .with("packet", 1500)
        .with("ecn", ecn)
        .with("quantum", 1500)
        .with("queues", 1024)
}

fn pie(ecn: bool) -> ManagementPlan {
    ManagementPlan::named("pie")
        .with("target", 15 * MILLISECOND)
        .with("update_interval", 15 * MILLISECOND)
        .with("alpha", 0.125)
        .with("beta", 1.25)
        .with("max_burst", 150 * MILLISECOND)
        .with("delay", "timestamps")
        .with("derandomise", true)
        .with("ecn", ecn)
        .with("mark_limit", 0.1)
        .with("packet", 1500)
}

#[test]
fn queues_with_a_delay_target_stay_near_it_and_keep_the_link_busy() {
    let flows = |controller: fn() -> ControllerPlan| vec![controller(); 5];
    let drop_tail = run(&plan_of(packets(1000), &flows(cubic), false), 1);
    assert!(delay_and_utilisation(&drop_tail).0 > 0.3, "without management the buffer fills");
    for (name, management, least, most) in [
        ("codel", codel as fn(bool) -> ManagementPlan, 0.0025, 0.010),
        ("fq-codel", fq_codel, 0.0025, 0.010),
        ("pie", pie, 0.012, 0.018),
        ("dual-pi2", |_| dual_pi2(), 0.012, 0.018),
    ] {
        for (scheme, controller) in [("newreno", newreno as fn() -> ControllerPlan), ("cubic", cubic)] {
            for ecn in [false, true] {
                let outcome = run(&plan_of(managed(management(ecn)), &flows(controller), ecn), 1);
                let (delay, utilisation) = delay_and_utilisation(&outcome);
                assert!((least..=most).contains(&delay), "{name}, {scheme}, ECN {ecn}: {delay} s");
                assert!(utilisation > 0.9, "{name}, {scheme}, ECN {ecn}: {utilisation}");
                let links = table(&outcome, "links");
                let (marked, early) =
                    (links.integers("marked_packets")[0], links.integers("dropped_packets_early")[0]);
                assert!(if ecn { marked > early } else { marked == 0 && early > 0 }, "{marked}, {early}");
            }
        }
    }
}

/// The load settles at γ. With 0.98 the queue stays below half of its buffer of 42 ms, with 0.8 it is nearly
/// empty.
#[test]
fn avq_keeps_the_desired_utilisation() {
    for (gamma, most) in [(0.98, 0.021), (0.8, 0.002)] {
        let management = ManagementPlan::named("avq")
            .with("capacity", MBPS * 1_000_000)
            .with("alpha", 0.15)
            .with("gamma", gamma)
            .with("initial_share", 0.8)
            .with("ecn", true);
        let queue = QueuePlan::Managed { limit_bytes: None, limit_packets: Some(70), management };
        let outcome = run(&plan_of(queue, &vec![newreno(); 20], true), 1);
        let (delay, utilisation) = delay_and_utilisation(&outcome);
        assert!((utilisation - gamma).abs() < 0.05, "{utilisation} of {gamma}");
        assert!(delay < most, "{delay} s");
    }
}

/// 0.5 Mbit/s of datagrams competing with ten CUBIC flows.
#[test]
fn fq_codel_isolates_a_sparse_flow() {
    let queueing = |queue: QueuePlan| {
        let mut plan = plan_of(queue, &vec![cubic(); 10], false);
        let traffic =
            TrafficPlan::PoissonDatagrams { bps: 500_000, packet_bytes: Draw::Constant { value: 200.0 } };
        plan.flows.push(datagrams("sparse", traffic));
        let outcome = run(&plan, 1);
        let flows = table(&outcome, "flows");
        (flows.reals("queueing_mean_s")[10], flows.integers("lost_packets")[10])
    };
    let (alone, lost) = queueing(managed(fq_codel(false)));
    let (shared, _) = queueing(managed(codel(false)));
    // It waits for the current transmission and for its turn among the new flows: about a packet time.
    assert!(alone < 0.002 && lost == 0, "{alone} s, {lost} lost");
    assert!(shared > 2.0 * alone, "{shared} {alone}");
}

/// Flows with different round trips share by round robin. The flow with the long round trip, 100 ms, halves
/// its window at a CoDel that allows no more than a few packets for it, so it uses four fifths of its share
/// and the others the rest.
#[test]
fn fq_codel_and_drr_share_evenly_between_unequal_flows() {
    let shares = |queue: QueuePlan| {
        let mut plan = plan_of(queue, &[newreno(), newreno(), cubic(), cubic()], false);
        // Flow 0 has an additional 60 ms of delay.
        plan.links.push(link("detour", RatePlan::Unlimited, 60.0));
        plan.flows[0].path = vec![2, 0];
        plan.flows[0].measured_at = 0;
        let rates = throughputs(&run(&plan, 1));
        rates.iter().copied().fold(f64::INFINITY, f64::min) / rates.iter().copied().fold(0.0, f64::max)
    };
    assert!(shares(packets(70)) < 0.6);
    assert!(shares(managed(fq_codel(false))) > 0.7);
    let drr = ManagementPlan::named("drr").with("quantum", 1500).with("queues", 1024);
    assert!(
        shares(QueuePlan::Managed { limit_bytes: None, limit_packets: Some(140), management: drr }) > 0.85
    );
}

fn unresponsive(name: &str, bps: u64) -> FlowPlan {
    let traffic =
        TrafficPlan::ConstantBitRate { bps, packet_bytes: 1500, on_ns: None, off_ns: None, start_off: false };
    datagrams(name, traffic)
}

#[test]
fn weighted_drr_shares_by_its_quanta() {
    let management = ManagementPlan::named("weighted-drr")
        .with("quanta", vec![1500, 3000, 4500])
        .with("class_of_flow", vec![0, 1, 2]);
    let mut plan = plan_of(managed(management), &[], false);
    plan.flows = ["a", "b", "c"].map(|name| unresponsive(name, 20_000_000)).to_vec();
    let rates = throughputs(&run(&plan, 1));
    for (rate, share) in rates.iter().zip([1.0, 2.0, 3.0]) {
        let expected = MBPS as f64 * share / 6.0;
        assert!((rate / expected - 1.0).abs() < 0.01, "{rates:?}");
    }
}

/// The upper class fills the link for half of the time: the lower class has the other half.
#[test]
fn priority_starves_the_lower_class_only_while_the_upper_is_busy() {
    let management = priority(2, &[1, 0]);
    let mut plan = plan_of(managed(management), &[], false);
    let mut upper = unresponsive("upper", 20_000_000);
    if let TrafficPlan::ConstantBitRate { on_ns, off_ns, .. } = &mut upper.traffic {
        *on_ns = Some(Draw::Constant { value: 1e9 });
        *off_ns = Some(Draw::Constant { value: 1e9 });
    }
    plan.flows = vec![unresponsive("lower", 20_000_000), upper];
    let outcome = run(&plan, 1);
    let rates = throughputs(&outcome);
    assert!((rates[0] - 10.0).abs() < 0.2 && (rates[1] - 10.0).abs() < 0.2, "{rates:?}");
    let flows = table(&outcome, "flows");
    assert_eq!(flows.integers("lost_packets")[1], 0);
    assert!(flows.reals("queueing_mean_s")[1] < 0.001, "{:?}", flows.reals("queueing_mean_s"));
}

fn priority(classes: u32, class_of_flow: &[u32]) -> ManagementPlan {
    ManagementPlan::named("priority").with("classes", classes).with("class_of_flow", class_of_flow)
}

#[test]
fn a_class_is_required_for_each_flow() {
    for (classes, class_of_flow) in [(2, vec![0]), (2, vec![0, 1]), (1, vec![0, 0])] {
        let management = priority(classes, &class_of_flow);
        let plan = plan_of(managed(management), &[cubic(), cubic()], false);
        let fits = class_of_flow.len() == 2;
        assert_eq!(Simulation::new(&plan, &[], 1).is_ok(), fits, "{class_of_flow:?} of {classes}");
    }
    let management = priority(1, &[0, 1]);
    let plan = plan_of(managed(management), &[cubic(), cubic()], false);
    let problem = Simulation::new(&plan, &[], 1).unwrap_err().to_string();
    assert_eq!(
        problem,
        "link bottleneck: queue.classes: accepted: one class for each flow, of those that there are"
    );
}
